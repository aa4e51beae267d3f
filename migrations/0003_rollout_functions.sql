-- The bucket of a unit, from 0 to 9 999, as the registry computes it: every part is prefixed with its length in bytes.
CREATE FUNCTION "repertoire_bucket"("salt" text, "unit_kind" text, "unit_value" text) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT ((('x' || encode(substring(sha256(
		'\x323a6231'::bytea
		|| convert_to(octet_length(convert_to("salt", 'UTF8')) || ':', 'UTF8') || convert_to("salt", 'UTF8')
		|| convert_to(octet_length(convert_to("unit_kind", 'UTF8')) || ':', 'UTF8') || convert_to("unit_kind", 'UTF8')
		|| convert_to(octet_length(convert_to("unit_value", 'UTF8')) || ':', 'UTF8') || convert_to("unit_value", 'UTF8')
	) FROM 1 FOR 4), 'hex'))::bit(32)::bigint * 10000) >> 32)::integer
$$;
--> statement-breakpoint
-- A skill's revision is that of its newest row, so that If-Match can be compared with one number.
UPDATE "skills" s SET "revision" = greatest(s."revision",
	coalesce((SELECT max(v."revision") FROM "versions" v WHERE v."skill_id" = s."id"), 0),
	coalesce((SELECT max(l."revision") FROM "lines" l WHERE l."skill_id" = s."id"), 0));
--> statement-breakpoint
UPDATE "rollouts" SET "agreed_basis_points" = "basis_points", "started_at" = coalesce("started_at", "created_at"), "step_at" = "created_at";
--> statement-breakpoint
ALTER TABLE "rollouts" ALTER COLUMN "agreed_basis_points" DROP DEFAULT;
--> statement-breakpoint
-- Events written before they named their skill and what changed of it.
ALTER TABLE "audit_events" DISABLE TRIGGER "audit_events_keep";
--> statement-breakpoint
UPDATE "audit_events" SET
	"skill" = split_part("subject", '@', 1),
	"change" = jsonb_build_object(
		'versions', jsonb_build_array(jsonb_build_object('version', split_part("subject", '@', 2),
			'status', CASE "action" WHEN 'version.release' THEN 'released' ELSE 'candidate' END,
			'formerStatus', NULL, 'statusReason', NULL, 'statusChangedAt', "at", 'replacement', NULL, 'sunsetAt', NULL)),
		'lines', CASE WHEN "action" = 'version.release' AND "after"->>'stable' IS DISTINCT FROM "before"->>'stable'
			THEN jsonb_build_array(jsonb_build_object('stable', "after"->>'stable', 'line',
				(SELECT v."line" FROM "versions" v JOIN "skills" s ON s."id" = v."skill_id"
					WHERE s."name" = split_part("subject", '@', 1) AND v."version" = "after"->>'stable')))
			ELSE '[]'::jsonb END,
		'rollouts', '[]'::jsonb)
WHERE "action" IN ('version.publish', 'version.release');
--> statement-breakpoint
ALTER TABLE "audit_events" ENABLE TRIGGER "audit_events_keep";

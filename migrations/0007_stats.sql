ALTER TABLE "replicas" ADD COLUMN "log_lag_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Search in the text of inputs is fast where this extension is; where it may not be created, what is searched is looked through.
DO $$
BEGIN
	CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION
	WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
		RAISE NOTICE 'pg_trgm cannot be created here';
END
$$;
--> statement-breakpoint
-- Bytes as the text they are; of text that was cut in the middle of a character, what is left of it.
CREATE FUNCTION "repertoire_text"("bytes" bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED COST 1000 AS $$
BEGIN
	FOR cut IN 0..3 LOOP
		BEGIN
			RETURN convert_from(substring("bytes" FROM 1 FOR greatest(0, octet_length("bytes") - cut)), 'UTF8');
		EXCEPTION
			WHEN character_not_in_repertoire OR untranslatable_character THEN NULL;
		END;
	END LOOP;
	RETURN encode("bytes", 'escape');
END
$$;
--> statement-breakpoint
CREATE INDEX "calls_trace" ON "calls" ("trace_id", "call_id") WHERE "trace_id" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "calls_session" ON "calls" ("session", "call_id") WHERE "session" IS NOT NULL;
--> statement-breakpoint
-- The day, of UTC, that a UUIDv7 belongs to.
CREATE FUNCTION "repertoire_day_of"("id" uuid) RETURNS date LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT (to_timestamp((('x' || translate(substr("id"::text, 1, 13), '-', ''))::bit(48)::bigint / 1000)::double precision) AT TIME ZONE 'UTC')::date
$$;
--> statement-breakpoint
-- Makes the partition of a day, with what the default one holds of it; whether there was none yet. It is attached, which stops
-- nobody who writes or reads other days.
CREATE FUNCTION "repertoire_make_day"("parent" text, "day" date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	part text := "parent" || '_' || to_char("day", 'YYYYMMDD');
	rest text := "parent" || '_default';
	key text := CASE "parent" WHEN 'shown_events' THEN 'event_id' ELSE 'call_id' END;
	first_id uuid := "repertoire_first_id"("day"::timestamp AT TIME ZONE 'UTC');
	next_id uuid := "repertoire_first_id"(("day" + 1)::timestamp AT TIME ZONE 'UTC');
BEGIN
	IF to_regclass(quote_ident(part)) IS NOT NULL THEN
		RETURN false;
	END IF;
	EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
	EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part, "parent");
	EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
		rest, key, first_id, key, next_id, part);
	EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', "parent", part, first_id, next_id);
	RETURN true;
END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "repertoire_make_partitions"("first_day" date, "days" integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	parent text;
	day date;
	made integer := 0;
BEGIN
	PERFORM pg_advisory_xact_lock(hashtext('repertoire.partitions'));
	FOREACH parent IN ARRAY ARRAY['calls', 'call_payloads', 'shown_events'] LOOP
		FOR day IN SELECT "first_day" + n FROM generate_series(0, "days" - 1) AS n LOOP
			IF "repertoire_make_day"(parent, day) THEN
				made := made + 1;
			END IF;
		END LOOP;
	END LOOP;
	RETURN made;
END
$$;
--> statement-breakpoint
-- Rows are counted after they are written, in the order of seq and each once: up to here they have been.
CREATE TABLE "rollup_state" (
	"one" smallint PRIMARY KEY DEFAULT 1 CHECK ("one" = 1),
	"seq" bigint NOT NULL,
	"shown_upto" uuid NOT NULL
);
--> statement-breakpoint
INSERT INTO "rollup_state" ("seq", "shown_upto") VALUES (0, '00000000-0000-0000-0000-000000000000');
--> statement-breakpoint
-- By skill and by agent apart: together there are nearly as many cells in an hour as there are calls. What was counted is
-- counted anew from the rows.
DROP TABLE "call_hours";
--> statement-breakpoint
DROP TABLE "call_days";
--> statement-breakpoint
TRUNCATE "violation_days", "rollout_units";
--> statement-breakpoint
CREATE TABLE "call_hours" (
	"bucket" timestamp with time zone NOT NULL,
	"skill" text NOT NULL,
	"version" text NOT NULL,
	"arm" text NOT NULL,
	"outcome" text NOT NULL,
	"error_code" text NOT NULL,
	"calls" bigint NOT NULL,
	"attempts" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"total_ms" double precision NOT NULL,
	"output_bytes" bigint NOT NULL,
	"histogram" numeric NOT NULL,
	PRIMARY KEY ("bucket", "skill", "version", "arm", "outcome", "error_code")
) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE INDEX "call_hours_skill" ON "call_hours" ("skill", "bucket");
--> statement-breakpoint
CREATE TABLE "call_days" (LIKE "call_hours" INCLUDING ALL) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE TABLE "agent_hours" (
	"bucket" timestamp with time zone NOT NULL,
	"agent_id" text NOT NULL,
	"outcome" text NOT NULL,
	"error_code" text NOT NULL,
	"calls" bigint NOT NULL,
	"attempts" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"total_ms" double precision NOT NULL,
	"output_bytes" bigint NOT NULL,
	"histogram" numeric NOT NULL,
	PRIMARY KEY ("bucket", "agent_id", "outcome", "error_code")
) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE INDEX "agent_hours_agent" ON "agent_hours" ("agent_id", "bucket");
--> statement-breakpoint
CREATE TABLE "agent_days" (LIKE "agent_hours" INCLUDING ALL) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE TABLE "agent_skill_days" (
	"bucket" timestamp with time zone NOT NULL,
	"agent_id" text NOT NULL,
	"skill" text NOT NULL,
	"version" text NOT NULL,
	"outcome" text NOT NULL,
	"error_code" text NOT NULL,
	"calls" bigint NOT NULL,
	"attempts" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"total_ms" double precision NOT NULL,
	"output_bytes" bigint NOT NULL,
	"histogram" numeric NOT NULL,
	PRIMARY KEY ("bucket", "agent_id", "skill", "version", "outcome", "error_code")
) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE INDEX "agent_skill_days_agent" ON "agent_skill_days" ("agent_id", "bucket");
--> statement-breakpoint
CREATE INDEX "agent_skill_days_skill" ON "agent_skill_days" ("skill", "bucket");
--> statement-breakpoint
CREATE INDEX "agent_skill_days_denied" ON "agent_skill_days" ("bucket") WHERE "outcome" = 'denied';
--> statement-breakpoint
-- What was shown to whom, by day, so that "shown and never called" can be asked of weeks.
CREATE TABLE "shown_days" (
	"bucket" timestamp with time zone NOT NULL,
	"skill" text NOT NULL,
	"agent_id" text NOT NULL,
	"kind" text NOT NULL,
	"shown" bigint NOT NULL,
	PRIMARY KEY ("bucket", "skill", "agent_id", "kind")
) WITH (fillfactor = 80);
--> statement-breakpoint
CREATE INDEX "shown_events_misses" ON "shown_events" ("event_id") WHERE "kind" = 'search' AND "item_count" = 0;
--> statement-breakpoint
-- What those who made calls say of them afterwards.
CREATE TABLE "call_feedback" (
	"call_id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"by" text NOT NULL,
	"skill" text NOT NULL,
	"version" text,
	"right_skill" boolean,
	"task_done" boolean,
	"note" text,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "call_feedback_skill" ON "call_feedback" ("skill", "call_id");

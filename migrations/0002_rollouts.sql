CREATE TABLE "replicas" (
	"name" text PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"last_seen_at" timestamp with time zone NOT NULL,
	"applied_revision" bigint NOT NULL,
	"left_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "rollouts" ADD COLUMN "paused_note" text;--> statement-breakpoint
ALTER TABLE "rollouts" ADD COLUMN "agreed_basis_points" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollouts" ADD COLUMN "step_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollouts" ADD COLUMN "started_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "audit_events" ADD COLUMN "skill" text;--> statement-breakpoint
ALTER TABLE "audit_events" ADD COLUMN "change" jsonb;--> statement-breakpoint
CREATE INDEX "audit_events_skill" ON "audit_events" USING btree ("skill","seq");
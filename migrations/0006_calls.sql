-- What a call needs beside its row: intents, claims of Idempotency-Keys, places of skills with a limit, whole results.
CREATE TABLE "call_intents" (
	"call_id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL CHECK ("kind" IN ('once', 'async')),
	"agent_id" text NOT NULL,
	"skill" text NOT NULL,
	-- The spool and the process that answer for the call; the spool outlives the process.
	"spool" uuid NOT NULL,
	"instance" uuid NOT NULL,
	-- The row as far as it was known, in the form of the spool.
	"row" bytea NOT NULL,
	"noted_at" timestamp with time zone NOT NULL DEFAULT now(),
	"cancel_requested_at" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "call_intents_instance" ON "call_intents" ("instance");
--> statement-breakpoint
-- Calls whose row says `unknown`: a row that comes late takes the place of the one that was made up for it.
CREATE TABLE "call_unknowns" (
	"call_id" uuid PRIMARY KEY NOT NULL,
	"noted_at" timestamp with time zone NOT NULL DEFAULT now()
);
--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "settled" text;
--> statement-breakpoint
CREATE TABLE "call_claims" (
	"agent_id" text NOT NULL,
	"skill_key" text NOT NULL,
	"key_hash" text NOT NULL,
	"request_hash" text NOT NULL,
	"call_id" uuid NOT NULL,
	"effects" text NOT NULL,
	"state" text NOT NULL CHECK ("state" IN ('running', 'done', 'unknown')),
	"version" text NOT NULL,
	"claimed_at" timestamp with time zone NOT NULL,
	"lease_until" timestamp with time zone NOT NULL,
	-- The first answer, sealed; null when it was too large to keep.
	"answer" bytea,
	PRIMARY KEY ("agent_id", "skill_key", "key_hash")
);
--> statement-breakpoint
CREATE INDEX "call_claims_age" ON "call_claims" ("claimed_at");
--> statement-breakpoint
CREATE INDEX "call_claims_call" ON "call_claims" ("call_id");
--> statement-breakpoint
CREATE TABLE "call_leases" (
	"skill_key" text NOT NULL,
	"slot" integer NOT NULL,
	"call_id" uuid NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	PRIMARY KEY ("skill_key", "slot")
);
--> statement-breakpoint
CREATE TABLE "call_results" (
	"call_id" uuid NOT NULL,
	"chunk" integer NOT NULL,
	"agent_id" text NOT NULL,
	"total_bytes" integer NOT NULL,
	"kept_at" timestamp with time zone NOT NULL DEFAULT now(),
	"bytes" bytea NOT NULL,
	PRIMARY KEY ("call_id", "chunk")
);
--> statement-breakpoint
CREATE INDEX "call_results_age" ON "call_results" ("kept_at");
--> statement-breakpoint
-- Calls counted by hour and by day. The histogram is an array of fixed logarithmic buckets, written as one number in which
-- every bucket has twelve decimal digits: adding two numbers adds the arrays, at the speed of the server's own arithmetic.
CREATE TABLE "call_hours" (
	"bucket" timestamp with time zone NOT NULL,
	"skill" text NOT NULL,
	"version" text NOT NULL,
	"agent_id" text NOT NULL,
	"arm" text NOT NULL,
	"outcome" text NOT NULL,
	"error_code" text NOT NULL,
	"calls" bigint NOT NULL,
	"attempts" bigint NOT NULL,
	"retried" bigint NOT NULL,
	"total_ms" double precision NOT NULL,
	"output_bytes" bigint NOT NULL,
	"histogram" numeric NOT NULL,
	PRIMARY KEY ("bucket", "skill", "version", "agent_id", "arm", "outcome", "error_code")
) WITH (fillfactor = 60);
--> statement-breakpoint
CREATE TABLE "call_days" (LIKE "call_hours" INCLUDING ALL) WITH (fillfactor = 60);
--> statement-breakpoint
-- Which arguments and answers miss their schema where, by day.
CREATE TABLE "violation_days" (
	"bucket" timestamp with time zone NOT NULL,
	"skill" text NOT NULL,
	"version" text NOT NULL,
	"outcome" text NOT NULL,
	"path" text NOT NULL,
	"rule" text NOT NULL,
	"calls" bigint NOT NULL,
	PRIMARY KEY ("bucket", "skill", "version", "outcome", "path", "rule")
);
--> statement-breakpoint
-- What a rollout's units met, each by itself: arms are compared by units, since calls of one unit are no independent trials.
CREATE TABLE "rollout_units" (
	"rollout_id" text NOT NULL,
	"arm" text NOT NULL,
	"unit_kind" text NOT NULL,
	-- Empty where every call is a unit of its own.
	"unit_hash" text NOT NULL,
	"version" text NOT NULL,
	"calls" bigint NOT NULL,
	"failures" bigint NOT NULL,
	"total_ms" double precision NOT NULL,
	"squared_ms" double precision NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	PRIMARY KEY ("rollout_id", "arm", "unit_kind", "unit_hash", "version")
);
--> statement-breakpoint
CREATE INDEX "calls_rollout" ON "calls" ("rollout_id", "call_id") WHERE "rollout_id" IS NOT NULL;

-- When a call of which nobody knows how it ended is asked after next, and how often it was; null when nobody asks any more.
ALTER TABLE "call_unknowns" ADD COLUMN "probe_due_at" timestamp with time zone DEFAULT now();
--> statement-breakpoint
ALTER TABLE "call_unknowns" ADD COLUMN "probe_tries" integer NOT NULL DEFAULT 0;
--> statement-breakpoint
CREATE INDEX "call_unknowns_due" ON "call_unknowns" ("probe_due_at") WHERE "probe_due_at" IS NOT NULL;
--> statement-breakpoint
-- What its probe has told so far, or why there is nothing to ask.
ALTER TABLE "calls" ADD COLUMN "probed" text;

CREATE TABLE "quotas" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text,
	"skill_key" text,
	"connection" text,
	"per_minute" integer,
	"per_day" integer,
	"reason" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"removed_at" timestamp with time zone,
	"revision" bigint NOT NULL,
	CONSTRAINT "quotas_limit" CHECK ("quotas"."per_minute" is not null or "quotas"."per_day" is not null)
);
--> statement-breakpoint
ALTER TABLE "quotas" ADD CONSTRAINT "quotas_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "quotas_target" ON "quotas" USING btree (coalesce("agent_id", ''),coalesce("skill_key", ''),coalesce("connection", '')) WHERE "quotas"."removed_at" is null;--> statement-breakpoint
CREATE INDEX "quotas_revision" ON "quotas" USING btree ("revision");
--> statement-breakpoint
-- What each process has spent of a quota in a minute or a day of UTC (milliseconds since 1970), and up to how much it may spend.
CREATE TABLE "quota_shares" (
	"quota_id" uuid NOT NULL,
	"span" text NOT NULL CHECK ("span" IN ('minute', 'day')),
	"window_start" bigint NOT NULL,
	"instance" uuid NOT NULL,
	"spent" integer NOT NULL,
	"reserved" integer NOT NULL,
	PRIMARY KEY ("window_start", "span", "quota_id", "instance")
);

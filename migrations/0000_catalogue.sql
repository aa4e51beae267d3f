CREATE TABLE "agents" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"team" text,
	"tenant" text,
	"domains" jsonb NOT NULL,
	"disabled" boolean NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "connections" (
	"name" text PRIMARY KEY NOT NULL,
	"base_url" text NOT NULL,
	"headers" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"removed_at" timestamp with time zone,
	"revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"pattern" text NOT NULL,
	"deny" boolean NOT NULL,
	"reason" text NOT NULL,
	"granted_by" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"removed_at" timestamp with time zone,
	"revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" text NOT NULL,
	"kind" text NOT NULL,
	"hash" text NOT NULL,
	"tail" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"rotated_to" uuid,
	"revoked_at" timestamp with time zone,
	"revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "requirements" (
	"agent_id" text NOT NULL,
	"instance" text NOT NULL,
	"skill_key" text NOT NULL,
	"skill" text NOT NULL,
	"range" text,
	"declared_at" timestamp with time zone NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "requirements_agent_id_instance_skill_key_pk" PRIMARY KEY("agent_id","instance","skill_key")
);
--> statement-breakpoint
CREATE TABLE "blobs" (
	"digest" text PRIMARY KEY NOT NULL,
	"bytes" integer NOT NULL,
	"content" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lines" (
	"skill_id" uuid NOT NULL,
	"line" text NOT NULL,
	"stable" text,
	"revision" bigint NOT NULL,
	CONSTRAINT "lines_skill_id_line_pk" PRIMARY KEY("skill_id","line")
);
--> statement-breakpoint
CREATE TABLE "rollouts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"skill_id" uuid NOT NULL,
	"line" text NOT NULL,
	"candidate" text NOT NULL,
	"previous_stable" text,
	"state" text NOT NULL,
	"paused_reason" text,
	"basis_points" integer NOT NULL,
	"unit" text NOT NULL,
	"salt" text NOT NULL,
	"allow" jsonb NOT NULL,
	"deny" jsonb NOT NULL,
	"steps" jsonb NOT NULL,
	"step_index" integer NOT NULL,
	"start_at" timestamp with time zone,
	"reason" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skills" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"name_key" text NOT NULL,
	"look_alike_key" text NOT NULL,
	"team" text,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "skills_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"first_published_at" timestamp with time zone NOT NULL,
	"revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "version_files" (
	"version_id" uuid NOT NULL,
	"path" text NOT NULL,
	"digest" text NOT NULL,
	"bytes" integer NOT NULL,
	CONSTRAINT "version_files_version_id_path_pk" PRIMARY KEY("version_id","path")
);
--> statement-breakpoint
CREATE TABLE "versions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"skill_id" uuid NOT NULL,
	"version" text NOT NULL,
	"major" bigint NOT NULL,
	"minor" bigint NOT NULL,
	"patch" bigint NOT NULL,
	"prerelease" text,
	"line" text NOT NULL,
	"status" text NOT NULL,
	"former_status" text,
	"status_reason" text,
	"status_changed_at" timestamp with time zone NOT NULL,
	"replacement" text,
	"sunset_at" timestamp with time zone,
	"digest" text NOT NULL,
	"schema_digest" text NOT NULL,
	"input_schema" text NOT NULL,
	"output_schema" text,
	"manifest" jsonb NOT NULL,
	"extra" jsonb NOT NULL,
	"defaults" jsonb NOT NULL,
	"instructions" text NOT NULL,
	"kind" text NOT NULL,
	"entry" text,
	"source" text NOT NULL,
	"published_by" text NOT NULL,
	"publisher_team" text,
	"published_at" timestamp with time zone NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "versions_skill_version" UNIQUE("skill_id","version")
);
--> statement-breakpoint
CREATE TABLE "audit_events" (
	"seq" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_events_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone NOT NULL,
	"caller" text NOT NULL,
	"role" text NOT NULL,
	"key_id" text,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"reason" text,
	"before" jsonb,
	"after" jsonb,
	"revision" bigint NOT NULL,
	"previous_hash" text,
	"hash" text
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"one" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"install_id" uuid NOT NULL,
	"epoch" integer NOT NULL,
	"revision" bigint NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "installation_one_row" CHECK ("installation"."one" = 1)
);
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requirements" ADD CONSTRAINT "requirements_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lines" ADD CONSTRAINT "lines_skill_id_skills_id_fk" FOREIGN KEY ("skill_id") REFERENCES "public"."skills"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lines" ADD CONSTRAINT "lines_stable_version" FOREIGN KEY ("skill_id","stable") REFERENCES "public"."versions"("skill_id","version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollouts" ADD CONSTRAINT "rollouts_skill_id_skills_id_fk" FOREIGN KEY ("skill_id") REFERENCES "public"."skills"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rollouts" ADD CONSTRAINT "rollouts_candidate_version" FOREIGN KEY ("skill_id","candidate") REFERENCES "public"."versions"("skill_id","version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "version_files" ADD CONSTRAINT "version_files_version_id_versions_id_fk" FOREIGN KEY ("version_id") REFERENCES "public"."versions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "version_files" ADD CONSTRAINT "version_files_digest_blobs_digest_fk" FOREIGN KEY ("digest") REFERENCES "public"."blobs"("digest") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "versions" ADD CONSTRAINT "versions_skill_id_skills_id_fk" FOREIGN KEY ("skill_id") REFERENCES "public"."skills"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_revision" ON "agents" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "connections_revision" ON "connections" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "grants_agent" ON "grants" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "grants_revision" ON "grants" USING btree ("revision");--> statement-breakpoint
CREATE UNIQUE INDEX "agent_keys_hash" ON "agent_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "agent_keys_agent" ON "agent_keys" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "agent_keys_revision" ON "agent_keys" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "requirements_skill" ON "requirements" USING btree ("skill_key");--> statement-breakpoint
CREATE INDEX "requirements_revision" ON "requirements" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "lines_revision" ON "lines" USING btree ("revision");--> statement-breakpoint
CREATE UNIQUE INDEX "rollouts_one_active" ON "rollouts" USING btree ("skill_id","line") WHERE state in ('scheduled', 'running', 'paused');--> statement-breakpoint
CREATE INDEX "rollouts_revision" ON "rollouts" USING btree ("revision");--> statement-breakpoint
CREATE UNIQUE INDEX "skills_name_key" ON "skills" USING btree ("name_key");--> statement-breakpoint
CREATE INDEX "skills_look_alike" ON "skills" USING btree ("look_alike_key");--> statement-breakpoint
CREATE INDEX "skills_revision" ON "skills" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "versions_order" ON "versions" USING btree ("skill_id","major","minor","patch");--> statement-breakpoint
CREATE INDEX "versions_revision" ON "versions" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "audit_events_subject" ON "audit_events" USING btree ("subject","seq");
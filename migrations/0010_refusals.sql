-- Requests that were turned away without a row in the log, as each process counted them: by the minute, who asked (empty where nobody knows) and the code.
CREATE TABLE "refusal_minutes" (
	"minute" timestamp with time zone NOT NULL,
	"agent_id" text NOT NULL,
	"code" text NOT NULL,
	"instance" uuid NOT NULL,
	"refusals" bigint NOT NULL,
	PRIMARY KEY ("minute", "agent_id", "code", "instance")
);
--> statement-breakpoint
CREATE INDEX "refusal_minutes_agent" ON "refusal_minutes" ("agent_id", "minute");

-- Heartbeats live for minutes: whoever is there writes its own again.
DELETE FROM "replicas";
--> statement-breakpoint
ALTER TABLE "replicas" DROP CONSTRAINT "replicas_pkey";
--> statement-breakpoint
ALTER TABLE "replicas" ADD COLUMN "instance" uuid PRIMARY KEY NOT NULL;

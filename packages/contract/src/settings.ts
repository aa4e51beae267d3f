/** One environment variable: who reads it, what it is unless set, and what it means. */
export type Setting = {
  readonly name: string
  readonly by: 'registry' | 'runner' | 'cli' | 'sdk'
  readonly fallback: string
  readonly meaning: string
}

/** Every variable the registry, the runner, the command line and the SDK read. */
export const settings = [
  {
    name: 'DATABASE_URL',
    by: 'registry',
    fallback: 'embedded Postgres',
    meaning: 'A Postgres (15 to 18) to use instead of the embedded one.',
  },
  { name: 'REPERTOIRE_DATA_DIR', by: 'registry', fallback: '.data', meaning: 'Where the embedded Postgres, secrets and local state lie.' },
  {
    name: 'REPERTOIRE_HOST',
    by: 'registry',
    fallback: '127.0.0.1',
    meaning: 'The address to listen on; another than loopback needs REPERTOIRE_BEHIND_PROXY=1.',
  },
  { name: 'REPERTOIRE_PORT', by: 'registry', fallback: '4000', meaning: 'The port to listen on; 0 takes a free one.' },
  {
    name: 'REPERTOIRE_BEHIND_PROXY',
    by: 'registry',
    fallback: '0',
    meaning: '1 says that a proxy with TLS stands in front, so that a non-loopback address is allowed.',
  },
  { name: 'REPERTOIRE_SKILLS_DIR', by: 'registry', fallback: 'skills', meaning: 'The folder whose skills are published at start.' },
  {
    name: 'REPERTOIRE_SEED',
    by: 'registry',
    fallback: 'candidate',
    meaning: '`release` also releases new versions of known skills at start (for development).',
  },
  { name: 'REPERTOIRE_ADMIN_KEY_FILE', by: 'registry', fallback: '<data dir>/admin.key', meaning: 'Where the first admin key is written.' },
  {
    name: 'REPERTOIRE_SECRET_FILE',
    by: 'registry',
    fallback: '<data dir>/secrets/install',
    meaning: 'The install secret, shared by all replicas: at least 32 bytes.',
  },
  {
    name: 'REPERTOIRE_NEW_SECRET',
    by: 'registry',
    fallback: '0',
    meaning: '1 makes this install secret the one of the installation, when the old one is lost; the audit chain begins anew.',
  },
  {
    name: 'REPERTOIRE_RUNNER_SOCKET',
    by: 'registry',
    fallback: 'a runner of its own',
    meaning: 'The UNIX socket of a runner that was started elsewhere; the runner listens on the same.',
  },
  {
    name: 'REPERTOIRE_ALLOW_UNSANDBOXED',
    by: 'registry',
    fallback: '0',
    meaning: '1 also runs code that was published through the API, without a sandbox.',
  },
  {
    name: 'REPERTOIRE_REPLICA',
    by: 'registry',
    fallback: 'host name and process id',
    meaning: 'The name of this replica in the call log.',
  },
  { name: 'REPERTOIRE_LOG_LEVEL', by: 'registry', fallback: 'info', meaning: 'trace, debug, info, warn, error or silent.' },
  { name: 'REPERTOIRE_DRAIN_MS', by: 'registry', fallback: '6000', meaning: 'How long running calls may still take after SIGTERM.' },
  {
    name: 'REPERTOIRE_STALE_LIMIT_MS',
    by: 'registry',
    fallback: '900000',
    meaning: 'How long a replica that cannot reach the database answers from the catalogue it holds: 1 minute to 1 day.',
  },
  {
    name: 'REPERTOIRE_LOG_ACK',
    by: 'registry',
    fallback: 'spool',
    meaning: 'When a call counts as logged: `spool` once its row is on this disk, `postgres` once it is committed there.',
  },
  {
    name: 'REPERTOIRE_SPOOL_MAX_MB',
    by: 'registry',
    fallback: '1024',
    meaning: 'How much of the call log may wait on this disk for Postgres, in MiB; beyond it calls are refused.',
  },
  {
    name: 'REPERTOIRE_PAYLOAD_DAYS',
    by: 'registry',
    fallback: '7',
    meaning: 'For how many days the log keeps what went into calls and came out.',
  },
  {
    name: 'REPERTOIRE_CALL_DAYS',
    by: 'registry',
    fallback: '90',
    meaning: 'For how many days the log keeps everything else of a call; daily counts by skill stay.',
  },
  {
    name: 'REPERTOIRE_OIDC_FILE',
    by: 'registry',
    fallback: '(none)',
    meaning: 'A JSON file that names an issuer whose tokens are good beside keys: see docs/security.md.',
  },
  {
    name: 'REPERTOIRE_TAG_CLASSES_FILE',
    by: 'registry',
    fallback: 'built in',
    meaning: 'A JSON file that says which tags open private data, untrusted content or a way out: see docs/security.md.',
  },
  {
    name: 'REPERTOIRE_REDACT_FILE',
    by: 'registry',
    fallback: '(none)',
    meaning: 'A JSON file with patterns and names of secrets that are kept out of the logs too: see docs/security.md.',
  },
  {
    name: 'REPERTOIRE_AGENT_RATE',
    by: 'registry',
    fallback: '50',
    meaning:
      'Requests a second of one agent at one replica, twice as many after a pause; people and machines that manage have four times that.',
  },
  {
    name: 'REPERTOIRE_CONCURRENCY',
    by: 'registry',
    fallback: '256',
    meaning:
      'How many calls are under way at once at one replica; reading the catalogue finds a quarter more room, questions to the log half.',
  },
  {
    name: 'REPERTOIRE_CONNECTION_CONCURRENCY',
    by: 'registry',
    fallback: '64',
    meaning: 'How many calls one connection carries out at once at one replica, so that one that hangs leaves room for the others.',
  },
  {
    name: 'REPERTOIRE_MOUNTS',
    by: 'runner',
    fallback: 'workspace=<data dir>/workspace',
    meaning: 'Folders that skills with fs tags may use: `name=/path` pairs, separated by commas.',
  },
  {
    name: 'REPERTOIRE_FETCH_ALLOW',
    by: 'runner',
    fallback: '(none)',
    meaning: 'Private `host:port` pairs that skills with network tags may reach beside public addresses, separated by commas.',
  },
  {
    name: 'REPERTOIRE_SMTP_URL',
    by: 'runner',
    fallback: '(none)',
    meaning: 'The mail server for skills with the tag smtp, `smtp://user:password@host:port`.',
  },
  { name: 'REPERTOIRE_SMTP_FROM', by: 'runner', fallback: 'repertoire@localhost', meaning: 'The sender of their mail.' },
  {
    name: 'REPERTOIRE_SMTP_RECIPIENTS',
    by: 'runner',
    fallback: '(none)',
    meaning: 'Who may be written to: addresses or `@domain` entries, separated by commas.',
  },
  { name: 'REPERTOIRE_RUNNER_PROCESSES', by: 'runner', fallback: '8', meaning: 'How many skill processes run at once.' },
  { name: 'REPERTOIRE_PYTHON', by: 'runner', fallback: 'python3', meaning: 'The Python that runs skill.py.' },
  {
    name: 'REPERTOIRE_URL',
    by: 'sdk',
    fallback: 'http://127.0.0.1:4000',
    meaning: 'The registry that the command line and the SDK talk to.',
  },
  { name: 'REPERTOIRE_KEY', by: 'sdk', fallback: '(none)', meaning: 'The key they show.' },
  { name: 'REPERTOIRE_KEY_FILE', by: 'cli', fallback: '(none)', meaning: 'A file that holds the key, readable by its owner alone.' },
] as const satisfies readonly Setting[]

/** The name of a variable. */
export type SettingName = (typeof settings)[number]['name']

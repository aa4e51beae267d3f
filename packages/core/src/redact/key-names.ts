/** What a member's name says of its value: nothing, that it is a secret, or that it is one unless it is a number (`tokens`). */
export type NameVerdict = 'open' | 'secret' | 'secret_text'

// Terms that make a secret of what stands under them, as the words at the end of a name: `dbPassword`, `x-api-key`.
const terms = wordSet('password passwd pwd pass passphrase passcode secret token credential cookie authorization jwt cvv cvc', [
  'api key',
  'access key',
  'secret key',
  'private key',
  'signing key',
  'encryption key',
  'ssh key',
  'auth key',
])
// Where a name is written without a break, these are still told: `dbpassword`, `CLIENTSECRET`.
const endings =
  /(?:password|passwd|passphrase|apikey|accesskey|secretkey|privatekey|clientsecret|accesstoken|refreshtoken|authtoken|idtoken|sessiontoken)$/
// Words behind a term that say in which form the secret stands there; any other word makes the name one of something else.
const forms = wordSet(
  'value hash text plain raw base64 b64 hex encoded encrypted header string pem new old current confirm confirmation repeat again',
)
// Language models count what they read and write in tokens, and lists call the place where they go on by that name.
const counting = wordSet('max min total num number prompt completion input output used remaining cached')
const paging = wordSet('page next continuation')

/** Whether a name stands for a secret: its last words are a term, so that `db_password` does and `password_policy` does not. */
export function judgeName(name: string, extraNames: ReadonlySet<string>): NameVerdict {
  const words = wordsOf(name)
  if (extraNames.has(words.join(' '))) return 'secret'
  while (words.length > 1 && isForm(words.at(-1) ?? '')) words.pop()
  const last = (words.at(-1) ?? '').replace(/\d+$/, '')
  const before = words.at(-2) ?? ''
  const singular = last.replace(/s$/, '')
  if (singular === 'token' && (paging.has(before) || (last !== singular && words.some((word) => counting.has(word))))) return 'open'
  const isTerm = [last, singular].some((word) => terms.has(word) || terms.has(`${before} ${word}`) || endings.test(word))
  if (!isTerm) return 'open'
  return last === 'tokens' ? 'secret_text' : 'secret'
}

/** A name as its words in lower case: `-`, `_`, white space and a change of case part them. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}

function wordSet(words: string, pairs: readonly string[] = []): ReadonlySet<string> {
  return new Set([...words.split(' '), ...pairs])
}

function isForm(word: string): boolean {
  return forms.has(word) || /^\d+$/.test(word)
}

// Pieces that every term and ending has one of, chosen for a rare first letter: with them a text is looked through fastest.
const traces = ['word', 'wd', 'pass', 'cret', 'cred', 'ken', 'key', 'kie', 'uth', 'jwt', 'cvv', 'cvc']

/** Whether a text may hold a name that stands for a secret; it says so too often rather than too rarely. */
export function mayHoldName(text: string): boolean {
  const lower = text.toLowerCase()
  return traces.some((trace) => lower.includes(trace))
}

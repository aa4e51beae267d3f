import { endpoints, errorCatalogue, type Endpoint } from '@repertoire/contract'

/** The API as one page that needs nothing from anywhere else. */
export function renderDocs(): string {
  const rows = Object.values(endpoints as Record<string, Endpoint>)
    .map(
      (endpoint) =>
        `<tr><td><code>${endpoint.method}</code></td><td><code>${escapeHtml(endpoint.path)}</code></td><td>${escapeHtml(endpoint.access)}</td><td>${escapeHtml(endpoint.summary)}</td></tr>`,
    )
    .join('\n')
  const codes = Object.entries(errorCatalogue)
    .map(
      ([code, entry]) =>
        `<tr><td><code>${code}</code></td><td>${entry.status}</td><td>${entry.next}</td><td>${escapeHtml(entry.meaning)}</td></tr>`,
    )
    .join('\n')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Repertoire API</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0 2rem}td,th{text-align:left;padding:.35rem .7rem;border-bottom:1px solid #d8dee4;vertical-align:top}
code{font:14px ui-monospace,monospace}th{border-bottom-width:2px}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}td,th{border-color:#30363d}a{color:#79b8ff}}
</style></head><body>
<h1>Repertoire API</h1>
<p>Every answer under <code>/v1</code> is an envelope: <code>{ok, data, error, meta}</code>. Show your key as <code>Authorization: Bearer rep_…</code>. The same as a document for machines: <a href="/openapi.json">/openapi.json</a>.</p>
<h2>Routes</h2><table><thead><tr><th>Method</th><th>Path</th><th>Who</th><th>What</th></tr></thead><tbody>
${rows}
</tbody></table>
<h2>Error codes</h2><table><thead><tr><th>Code</th><th>Status</th><th>Next</th><th>Meaning</th></tr></thead><tbody>
${codes}
</tbody></table>
</body></html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

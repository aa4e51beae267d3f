import type { Leaving } from '../calls/call.ts'

/** The headers of RFC 9745 and RFC 8594 for a deprecated version, and where its successor is; none for others. */
export function deprecationHeaders(version: Leaving): Record<string, string> {
  if (version.status !== 'deprecated') return {}
  const skill = `/v1/skills/${encodeURIComponent(version.name)}`
  const link =
    version.replacement === null
      ? `<${skill}>; rel="latest-version"`
      : `<${skill}/versions/${encodeURIComponent(version.replacement)}>; rel="successor-version"`
  return {
    deprecation: `@${Math.floor(Date.parse(version.status_changed_at) / 1000)}`,
    ...(version.sunset_at === null ? {} : { sunset: new Date(version.sunset_at).toUTCString() }),
    link,
  }
}

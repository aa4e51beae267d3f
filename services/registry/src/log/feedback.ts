import type { Feedback } from '@repertoire/contract'
import type postgres from 'postgres'
import type { CountedFeedback, FeedbackQuestion } from '../counted.ts'
import type { NewFeedback } from '../stored.ts'

/** Notes what somebody says of a call; what is not said this time stays as it was said before. */
export async function noteFeedback(sql: postgres.Sql, { call, by, at, ...said }: NewFeedback): Promise<Feedback> {
  const [noted] = await sql<(Omit<Feedback, 'at'> & { readonly at: Date })[]>`
    insert into call_feedback as known (call_id, agent_id, "by", skill, version, right_skill, task_done, note, "at")
    values (${call.call_id}::uuid, ${call.agent_id}, ${by}, ${call.skill}, ${call.version}, ${said.right_skill ?? null}, ${said.task_done ?? null}, ${said.note ?? null}, ${at})
    on conflict (call_id) do update set "by" = excluded."by", "at" = excluded."at", right_skill = coalesce(excluded.right_skill, known.right_skill),
      task_done = coalesce(excluded.task_done, known.task_done), note = coalesce(excluded.note, known.note)
    returning call_id, right_skill, task_done, note, "by", "at"`
  if (noted === undefined) throw new Error('the database answered without a row')
  return { ...noted, at: noted.at.toISOString() }
}

/** What was said of the calls of each version in a window, the versions first of which most was said. */
export async function countFeedback(sql: postgres.Sql, question: FeedbackQuestion): Promise<readonly CountedFeedback[]> {
  const { window, skill, version, agent, limit } = question
  return sql<CountedFeedback[]>`
    select skill, version, count(*)::int as calls, count(*) filter (where right_skill)::int as right_skill, count(*) filter (where not right_skill)::int as wrong_skill,
      count(*) filter (where task_done)::int as task_done, count(*) filter (where not task_done)::int as task_not_done
    from call_feedback where call_id >= repertoire_first_id(${window.from}) and call_id < repertoire_first_id(${window.to})
      ${skill === undefined ? sql`` : sql`and skill = ${skill}`} ${version === undefined ? sql`` : sql`and version = ${version}`}
      ${agent === undefined ? sql`` : sql`and agent_id = ${agent}`}
    group by skill, version order by calls desc, skill, version limit ${limit}`
}

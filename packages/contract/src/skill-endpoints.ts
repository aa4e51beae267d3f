import { z } from 'zod'
import * as skills from './skills.ts'
import type { Endpoint } from './endpoint.ts'

const none = z.strictObject({})

/** Routes that publish, list and read skills. */
export const skillEndpoints = {
  listSkills: {
    method: 'GET',
    path: '/v1/skills',
    access: 'agent',
    summary: 'The skills the caller may use, each resolved to a version.',
    query: skills.ListSkillsQuery,
    data: skills.SkillList,
  },
  publishSkill: {
    method: 'POST',
    path: '/v1/skills',
    access: 'publisher',
    summary: 'Publishes a version from JSON, multipart files or a zip.',
    query: skills.PublishQuery,
    body: skills.PublishBody,
    data: skills.Published,
  },
  describeSkill: {
    method: 'GET',
    path: '/v1/skills/{name}',
    access: 'agent',
    summary: 'One skill: manifest, instructions, schemas and resolution.',
    query: skills.DescribeSkillQuery,
    data: skills.SkillDetail,
  },
  listVersions: {
    method: 'GET',
    path: '/v1/skills/{name}/versions',
    access: 'agent',
    summary: 'The versions of a skill the caller may see, newest first.',
    query: none,
    data: skills.VersionList,
  },
  describeVersion: {
    method: 'GET',
    path: '/v1/skills/{name}/versions/{version}',
    access: 'agent',
    summary: 'One exact version.',
    query: none,
    data: skills.SkillDetail,
  },
  readFile: {
    method: 'GET',
    path: '/v1/skills/{name}/versions/{version}/files/{path}',
    access: 'agent',
    summary: 'One file of a version, byte for byte.',
    query: none,
  },
  resolveSkills: {
    method: 'POST',
    path: '/v1/resolve',
    access: 'agent',
    summary: 'What each range resolves to for the caller, at one revision.',
    query: none,
    body: skills.ResolveBody,
    data: skills.ResolvedSet,
  },
  transferSkill: {
    method: 'POST',
    path: '/v1/skills/{name}/transfer',
    access: 'admin',
    summary: 'Gives a skill to another team, whose publishers may publish it from then on.',
    query: none,
    body: skills.TransferBody,
    data: skills.Transferred,
  },
} as const satisfies Record<string, Endpoint>

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { houseDir } from './read-house.ts'
import { withTables } from './readme-tables.ts'

const file = join(houseDir, 'README.md')
writeFileSync(file, withTables(readFileSync(file, 'utf8')))

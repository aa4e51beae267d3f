import { TagClasses } from '@repertoire/contract'
import { readJsonSetting } from './read-json-setting.ts'

/** Reads which tags are of which class from the file that REPERTOIRE_TAG_CLASSES_FILE names; without one, those built in. */
export async function readTagClasses(file: string | undefined): Promise<TagClasses> {
  return file === undefined ? TagClasses.parse({}) : readJsonSetting('REPERTOIRE_TAG_CLASSES_FILE', file, TagClasses)
}

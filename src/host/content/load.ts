// Makes the files of a document known to the tasks of this process: the page, its worker, or the
// command line.

import {
  ContentError,
  type ContentFile,
  contentHash,
  type NamedContent,
} from '../../document/content/content.ts'
import { knowFile } from '../../rl/config/begun_files.ts'
import type { DataChoice } from '../../tasks/data/data_task.ts'
import { loadDataFiles, type Prepare } from '../../tasks/data/load_data.ts'
import { loadTask } from '../../tasks/index.ts'
import { loadProgram, PROGRAM_ID } from '../../tasks/task/program.ts'
import { createTools } from '../../tasks/tools/index.ts'
import { besideOf, contentNames, type NamingDocument } from './named.ts'

type Find = (hash: string) => ContentFile
type Load = (document: NamingDocument, find: Find, prepare?: Prepare) => Promise<void>

/** Tools are made here only to see whether they can be. */
const NO_TIME = { timeout_ms: 0, batch_timeout_ms: 0 }

/** What is done with each kind of file. */
const LOADERS: readonly Load[] = [
  async ({ task }, find, prepare) => {
    if (task.id !== 'dataset') return
    const choice = task as unknown as DataChoice
    const { data } = choice
    if (data === null) throw new ContentError('task.data: expected the hash of a file, found null')
    const val = choice.val_data === null ? undefined : find(choice.val_data)
    const file = choice.tokenizer_data === null ? undefined : find(choice.tokenizer_data)
    await loadDataFiles(choice, find(data), val, { file }, prepare)
  },
  async ({ reward }, find) => {
    for (const { id, code } of reward?.parts ?? [])
      if (id === PROGRAM_ID) loadProgram(`${code}`, textOf(find(`${code}`)))
  },
  async ({ model }, find) => {
    for (const start of besideOf(model)) if (start?.source) knowFile(find(start.source))
  },
  async ({ reward, tools = [] }, find) => {
    for (const { code } of tools) if (code !== undefined) loadProgram(code, textOf(find(code)))
    // What is no tool, or has the name of another one, is refused before a run begins.
    createTools(tools, reward ?? NO_TIME)
  },
]

/** Checks that `files` are all that the document names, and loads them. Throws ContentError where
 * one is missing or is another file, and the loader's own error where one does not hold what the
 * document says of it. `prepare`: what reads rows, where that is not this thread. */
export async function loadContents(
  document: NamingDocument,
  files: readonly ContentFile[],
  prepare?: Prepare,
): Promise<void> {
  await loadTask(document.task.id)
  const byHash = new Map(files.map((file) => [file.hash, file]))
  for (const named of contentNames(document)) await check(named, byHash.get(named.hash))
  const find = (hash: string): ContentFile => {
    const file = byHash.get(hash)
    if (!file) throw new ContentError(`expected a file ${hash}; the document names none`)
    return file
  }
  for (const load of LOADERS) await load(document, find, prepare)
}

function textOf({ name, bytes }: ContentFile): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ContentError(`${name}: expected a program as text, found bytes that are no UTF-8`)
  }
}

async function check({ hash, name }: NamedContent, file: ContentFile | undefined): Promise<void> {
  if (!file) throw new ContentError(`${name} (${hash}) is not here; give the file again`)
  const found = await contentHash(file.bytes)
  if (found !== hash) throw new ContentError(`${name}: expected ${hash}, found ${found}`)
}

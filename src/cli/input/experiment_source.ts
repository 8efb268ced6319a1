// Reads the experiment that a command is given: a file, a share link or a preset's id.
import { existsSync } from 'node:fs'
import type { ContentFile } from '../../document/content/content.ts'
import { everyIssue } from '../../document/experiment/every_issue.ts'
import { experimentIn, type Parsed, parseExperiment } from '../../document/experiment/experiment.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { decodeLink } from '../../document/links/link.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { isObject } from '../../formats/json.ts'
import { readBundle } from '../../host/content/bundle.ts'
import { createReward } from '../../tasks/rewards/composed.ts'
import { LabFailure } from '../base/command.ts'
import { reason } from '../base/disk.ts'
import { readInput, readJson } from './input_file.ts'

/** Reads an experiment document; `change` replaces fields of it before it is checked.
 * Throws LabFailure naming the field, or the preset ids when `source` is nothing that is known. */
export function readExperiment(source: string, change?: DocumentChange): Experiment {
  const found = read(source)
  if (!change && 'experiment' in found) return withLegalReward(source, found.experiment)
  const document = 'experiment' in found ? found.experiment : found.document
  const changed = change && isObject(document) ? { ...document, ...change(document) } : document
  return accept(source, parseExperiment(changed), changed)
}

/** The experiment of a bundle and the files that came with it. Throws LabFailure or
 * ContentError. */
export async function readBundled(
  file: string,
  change?: DocumentChange,
): Promise<{ readonly experiment: Experiment; readonly files: readonly ContentFile[] }> {
  const { document, files } = await readBundle(file, new Uint8Array(readInput(file)))
  const made = accept(file, parseExperiment(document), document)
  return { experiment: withChange(file, made, change), files }
}

function withChange(source: string, made: Experiment, change?: DocumentChange): Experiment {
  if (!change) return made
  const changed = { ...made, ...change({ ...made }) }
  return accept(source, parseExperiment(changed), changed)
}

/** An experiment of a document that was made here; `change` replaces fields of it before it is
 * checked. Throws LabFailure with what is wrong with it. */
export const acceptDocument = (
  source: string,
  document: Readonly<Record<string, unknown>>,
  change?: DocumentChange,
): Experiment => {
  const changed = change ? { ...document, ...change(document) } : document
  return accept(source, parseExperiment(changed), changed)
}

/** Fields in place of those of a document. */
export type DocumentChange = (document: Readonly<Record<string, unknown>>) => object

function read(
  source: string,
): { readonly experiment: Experiment } | { readonly document: unknown } {
  const preset = PRESETS.find(({ id }) => id === source)
  if (preset) return { experiment: preset.experiment }
  const query = /^(?:https?:\/\/[^?#]*)?[?#](.*)$/s.exec(source)
  if (query) return { experiment: fromLink(query[1]) }
  return { document: readDocument(source) }
}

/** The page opens such a link as far as it can and says so; an unattended run should not start. */
function fromLink(query: string): Experiment {
  const { experiment, notices } = decodeLink(query)
  if (notices.length) throw new LabFailure(`The link is not understood:\n${list(notices)}`)
  return experiment
}

const list = (lines: readonly string[]) => lines.map((line) => `  ${line}`).join('\n')

function readDocument(file: string): unknown {
  if (!existsSync(file)) {
    const ids = PRESETS.map(({ id }) => id).join(', ')
    throw new LabFailure(`${file}: no such file, and no preset of that name. Presets: ${ids}`)
  }
  return experimentIn(readJson(file))
}

/** A schema knows no more of a reward than its form. Throws LabFailure for a part or a setting that
 * there is not. */
function withLegalReward(source: string, experiment: Experiment): Experiment {
  try {
    createReward(experiment.reward, taskOf(experiment.task))
    return experiment
  } catch (error) {
    throw new LabFailure(`${source}:\n  ${reason(error)}`)
  }
}

/** What is wrong with the user's document is a list of sentences about that document, all at
 * once. */
function accept(source: string, parsed: Parsed, document?: unknown): Experiment {
  if (parsed.ok) return withLegalReward(source, parsed.experiment)
  const lines = everyIssue(document, parsed.issues).map(({ path, message }) =>
    path ? `${path}: ${message}` : message,
  )
  throw new LabFailure(`${source}:\n${list(lines)}`)
}

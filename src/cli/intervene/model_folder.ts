// Opens the model of a Hugging Face folder as the commands read it that change it: beside a task
// made of given rows.
import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { contentHash } from '../../document/content/content.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import type { ExchangeSource } from '../../rl/train/touched/exchange.ts'
import type { Touchable } from '../../rl/train/touched/touch.ts'
import { LabFailure } from '../base/command.ts'
import { tell } from '../base/terminal.ts'
import { documentAround, type GivenData, givenData, loadNamedFiles } from '../input/data_set.ts'
import { acceptDocument } from '../input/experiment_source.ts'
import { readGivenModel } from '../input/given_model.ts'
import { modelTokenizer } from '../input/given_tokenizer.ts'
import { withModel } from '../train/begun_experiment.ts'

/** A folder of a model, and no run. */
export const isModelFolder = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory() && existsSync(join(path, 'config.json'))

/** Its problems are the rows of `rows`: a file, or texts that a person typed. Throws LabFailure
 * where there are none, and what `train --model DIR --data FILE` throws. */
export async function modelFolder(
  folder: string,
  rows: string | readonly string[] | undefined,
): Promise<Touchable & ExchangeSource> {
  if (rows === undefined)
    throw new LabFailure(
      `${folder}: expected problems, because a model without a run has none; give a file of rows or texts with --data FILE`,
    )
  const data =
    typeof rows === 'string' ? await givenData({ data: rows }, folder) : await typed(folder, rows)
  if (!data) throw new LabFailure(`${folder}: expected rows, found none`)
  const around = acceptDocument(
    folder,
    // Nothing is trained, so nothing is said of phases.
    await documentAround(data, () => {}),
  )
  await loadNamedFiles(around, data, tell)
  const given = await readGivenModel(folder, taskOf(around.task).tokenizer)
  const config = trainerConfig(withModel(around, given))
  const layout = paramLayout(modelShape(config.model))
  return { name: basename(folder), step: 0, config, layout, weights: given.weights }
}

async function typed(folder: string, texts: readonly string[]): Promise<GivenData> {
  // A data set has at least five prompts; of these only the vocabulary matters.
  const prompts = [...texts, ...texts.flatMap((a) => texts.map((b) => `${a}${b}`))]
  const lines = prompts.map((prompt) => `${JSON.stringify({ prompt, answer: prompt })}\n`)
  const bytes = new TextEncoder().encode(lines.join(''))
  const train = { hash: await contentHash(bytes), name: 'typed texts.jsonl', bytes }
  return { train, val: undefined, tokenizer: await modelTokenizer(folder) }
}

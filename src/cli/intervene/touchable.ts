// Opens the model of a checkpoint as the commands read it that change it or exchange its parts.
import { existsSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { fileOf } from '../../host/checkpoints/storage/places.ts'
import { memoryBudget } from '../../host/worker/base/memory_budget.ts'
import { checkpointSource, mergedPolicy } from '../../jobs/model_folders.ts'
import { memorySize, ShapeError } from '../../kernels/device/base/errors.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { bareConfig, modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import type { ExchangeSource } from '../../rl/train/touched/exchange.ts'
import type { OpenTouch, Touchable } from '../../rl/train/touched/touch.ts'
import { LabFailure, NO_ADAPTER_TEXT } from '../base/command.ts'
import { openDawn } from '../base/dawn.ts'
import { tell } from '../base/terminal.ts'
import { givenData, loadNamedFiles } from '../input/data_set.ts'
import { readInput } from '../input/input_file.ts'
import { checkpointFolder, folderFiles } from '../output/checkpoint_files.ts'
import { findCheckpoint } from '../train/resume.ts'
import { isModelFolder, modelFolder } from './model_folder.ts'

/** Reads a checkpoint, or the newest of the folder of a run, where an adapter is merged into its
 * base; or a Hugging Face model. `file`: the rows of a run that was trained on them, or the
 * problems of a model that has none. Throws LabFailure. */
export async function readTouchable(
  path: string,
  file: string | undefined,
): Promise<Touchable & ExchangeSource> {
  if (!existsSync(path)) throw new LabFailure(`${path}: no such file or folder`)
  if (isModelFolder(path)) return modelFolder(path, file)
  const { run } = statSync(path).isDirectory()
    ? (await findCheckpoint(path, undefined)).checkpoint
    : await decodeCheckpoint(new Uint8Array(readInput(path)), basename(path))
  await loadNamedFiles(run.experiment, await givenData({ data: file }), tell)
  const config = trainerConfig(run.experiment)
  const weights = mergedPolicy(checkpointSource(run))
  if (!weights) throw new LabFailure(`${path}: expected weights, found none`)
  const layout = paramLayout(modelShape(bareConfig(config.model)))
  return { name: path, step: run.trainer.step, config, layout, weights }
}

/** What reads a checkpoint, or every one that the folder of a run keeps, oldest first. Throws
 * LabFailure where there is none. */
export async function touchablesOf(
  path: string,
  file: string | undefined,
): Promise<readonly (() => Promise<Touchable>)[]> {
  if (!existsSync(path)) throw new LabFailure(`${path}: no such file or folder`)
  if (!statSync(path).isDirectory() || isModelFolder(path)) return [() => readTouchable(path, file)]
  const kept = await folderFiles(path, '').list()
  if (kept.length === 0) throw new LabFailure(`${path}: no checkpoints in it`)
  return kept.map(
    ({ step }) =>
      () =>
        readTouchable(join(checkpointFolder(path), fileOf(step)), file),
  )
}

/** A device for what was planned. Rejects with LabFailure where there is none, and where it would
 * take more memory than a run may here. */
export async function openPlanned(path: string): Promise<OpenTouch> {
  const dawn = await openDawn()
  if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
  const allowed = memoryBudget(totalmem() / 2 ** 30)
  return async (plan) => {
    if (plan.total() > allowed)
      throw new LabFailure(
        `${path}: would take ${memorySize(plan.total())} of GPU memory, and ${memorySize(allowed)} are allowed here; take shorter texts, or fewer of them at once`,
      )
    return Gpu.open({ gpu: dawn, largest: plan.largest })
  }
}

/** Rejects with LabFailure where a model or a text does not allow what is asked for. */
export const asFailure =
  (path: string) =>
  (error: unknown): never => {
    if (error instanceof RangeError || error instanceof ShapeError)
      throw new LabFailure(`${path}: ${error.message}`)
    throw error
  }

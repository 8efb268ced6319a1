// Reads every layer through the lenses that are asked for, after a step whose inside is observed.

import type { TranslatedReadout } from '../../../model/layout/readout.ts'
import { type RolloutBatch, spreadRows, tokenCount } from '../../experience/batch.ts'
import { lensesOf } from '../../learners/lens/lens_files.ts'
import type { Observation } from '../../look/observation.ts'
import { make } from '../../look/observed_parts.ts'
import { endOfQueued, readingCosts, stageOf, startReading } from '../../look/reading_costs.ts'
import { LiveReadings } from '../touched/live_readings.ts'
import type { Training } from './training.ts'

type Read = Pick<Observation, 'readings' | 'refused' | 'cost_ms'>

/** Frees what reading through lenses takes that nobody asks for any more. */
export function freeReadings({ liveReadings, observer }: Training): void {
  for (const [readout, { part }] of liveReadings) {
    if (observer.readings.includes(readout)) continue
    part?.free()
    liveReadings.delete(readout)
  }
}

/** Encodes and submits, a fit aside, which is awaited; undefined where nothing is asked for. */
export async function measureReadings(
  training: Training,
  batch: RolloutBatch,
): Promise<Promise<Read> | undefined> {
  const { gpu, observer, parts } = training
  if (observer.readings.length === 0) return undefined
  const probed = spreadRows(batch, parts.actor.tensors.probe.rows)
  if (tokenCount(probed) === 0) return undefined
  gpu.stage(stageOf('readings'))
  const lenses: LiveReadings[] = []
  const refused: string[] = []
  for (const readout of observer.readings) {
    const made = await lensOf(training, readout, batch)
    if (made.part) lenses.push(made.part)
    else refused.push(`readings: ${readout}: ${made.refused}`)
  }
  const before = endOfQueued(gpu)
  const reading = startReading('readings', () =>
    Promise.all(lenses.map((lens) => lens.read(probed))),
  )
  const read = Promise.all([reading.arrays, readingCosts(gpu, before, [reading])]).then(
    ([readings, cost_ms]): Read => ({
      readings,
      cost_ms,
      ...(refused.length > 0 && { refused: refused.join('\n') }),
    }),
  )
  read.catch(() => {}) // its reader may come late
  return read
}

/** The lens, or why there is none. */
async function lensOf(training: Training, readout: TranslatedReadout, batch: RolloutBatch) {
  const { gpu, config, layout, begunWith, liveReadings, parts, progress } = training
  const known = liveReadings.get(readout)
  if (known) return known
  const { model, probe } = parts.actor.tensors
  const made = await make(() => {
    const owner = { shape: layout.shape, ...(begunWith !== undefined && { hash: begunWith }) }
    const file = config.lensFiles?.[readout]
    const given = file === undefined ? undefined : lensesOf({ [readout]: file }, owner).get(readout)
    const source = { given, batch, step: progress.step }
    return LiveReadings.create(gpu, model, probe.rows, readout, source)
  })
  liveReadings.set(readout, made)
  return made
}

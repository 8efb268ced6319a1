// Finds checkpoints without a record: their browser was gone before the record was first written,
// or the database was cleared.

import { parseExperiment } from '../../../document/experiment/experiment.ts'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { type Peeked, peekCheckpoint } from '../../../host/checkpoints/file/peek.ts'
import { checkpointBlob, listCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { STUDY_RECORD } from '../../../host/checkpoints/storage/places.ts'
import type { CheckpointEntry } from '../../../host/protocol/checkpoint_facts.ts'
import { PROTOCOL_VERSION } from '../../../host/protocol/protocol.ts'
import { RECORD_VERSION, type RunHeader } from '../../../record/run/record.ts'
import type { RunStorage } from '../../../record/run/storage.ts'
import { idOf } from '../record/record_fields.ts'

/** Runs that are looked into at most: their folders may be a stranger's doing. */
const MAX_ORPHANS = 20

/** What a record says of a run that is known by its checkpoints alone, newest last; undefined where
 * its document is unsound. */
export function orphanHeader(
  kept: readonly CheckpointEntry[],
  { step, document }: Peeked,
  version: string,
): RunHeader | undefined {
  const parsed = parseExperiment(document)
  const [first, newest] = [kept[0], kept.at(-1)]
  if (!parsed.ok || !first || !newest) return undefined
  const { experiment } = parsed
  return {
    id: first.record,
    record_version: RECORD_VERSION,
    preset_id: decodeLink(encodeLink(experiment)).preset_id,
    document: experiment,
    experiment,
    adapter: '',
    kernels: '',
    versions: { understory: version, protocol: PROTOCOL_VERSION },
    started_at: first.written_at,
    ended_at: newest.written_at,
    status: 'stopped',
    error: undefined,
    step,
    phase: 0,
    phase_step: 0,
    phase_switches: [],
    steered: [],
    metrics: {},
    summaries: {},
    parent: undefined,
    was_left: true,
  }
}

/** The header that the newest checkpoint with a sound one gives; `kept` newest last. */
export async function newestHeader(
  kept: readonly CheckpointEntry[],
  blobOf: (step: number) => Promise<Blob | undefined>,
  version: string,
): Promise<RunHeader | undefined> {
  for (const { step } of kept.toReversed()) {
    const blob = await blobOf(step)
    const peeked = blob && (await peekCheckpoint(blob))
    const header = peeked && orphanHeader(kept, peeked, version)
    if (header) return header
  }
  return undefined
}

/** Writes a record for each run that has checkpoints and none, unless it is `held` by some page.
 * Never throws. */
export async function adoptOrphans(
  storage: RunStorage,
  held: ReadonlySet<string>,
  version: string,
): Promise<void> {
  try {
    const all = await listCheckpoints()
    const records = Map.groupBy(all, ({ record }) => record)
    if (records.size === 0) return
    const known = new Set((await storage.list()).headers.map(idOf))
    const orphans = [...records].filter(
      ([record]) => !known.has(record) && !held.has(record) && !record.startsWith(STUDY_RECORD),
    )
    for (const [record, kept] of orphans.slice(0, MAX_ORPHANS)) {
      const header = await newestHeader(kept, (step) => checkpointBlob(record, step), version)
      if (header) await storage.write({ header, chunk: undefined, items: [], dropped: [] })
    }
  } catch {
    // They stay where they are, and are looked for again by the next page.
  }
}

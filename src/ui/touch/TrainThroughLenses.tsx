// Takes lenses into the settings: phases whose layers are read so read them through these, in place
// of fitting their own.
import { useState } from 'react'
import { contentHash } from '../../document/content/content.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Touched } from '../../host/protocol/touch.ts'
import { openExperiment } from '../../page/client/opening.ts'
import { keepContent } from '../../page/contents/content_files.ts'
import { issuesWords } from '../shown/names/refused.ts'
import { shownExperiment } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'
import { ownerOfShown } from './owner.ts'

type Files = Extract<Touched, { what: 'readings' }>['files']

/** Gives why the settings do not take the lenses. */
async function take(files: Files): Promise<string | undefined> {
  const experiment = shownExperiment(shownStore.getState())
  const { stem } = ownerOfShown()
  const kept = await Promise.all(
    files.map(async ({ readout, bytes }) => ({
      readout,
      hash: await contentHash(bytes),
      name: `${stem}.${readout}.safetensors`,
      bytes,
    })),
  )
  const lenses = Object.fromEntries(
    kept.map(({ readout, hash, name }) => [readout, { source: hash, source_name: name }]),
  )
  const { model } = experiment
  const parsed = parseExperiment({ ...experiment, model: { ...model, lenses } })
  if (!parsed.ok) return issuesWords(parsed.issues).join('\n')
  for (const { hash, name, bytes } of kept) await keepContent({ hash, name, bytes })
  return openExperiment(parsed.experiment, kept.map(({ name }) => name).join(', '))
}

export function TrainThroughLenses({ files }: { readonly files: Files }) {
  const [why, setWhy] = useState<string>()
  return (
    <>
      <button
        type="button"
        data-testid="readings-train"
        title="Phases that read an inner layer through a lens take these; the run must begin with this state. Its link names their files, and its bundle carries them"
        onClick={async () => setWhy(await take(files))}
      >
        Train through them
      </button>
      {why === undefined ? null : (
        <span className="bad" role="alert">
          {' '}
          {why}
        </span>
      )}
    </>
  )
}

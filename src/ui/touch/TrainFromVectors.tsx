// Takes steering vectors into the settings: the next run trains them on and leaves the model as it
// is.
import { useState } from 'react'
import { contentHash } from '../../document/content/content.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Steering } from '../../host/protocol/touch.ts'
import { openExperiment } from '../../page/client/opening.ts'
import { keepContent } from '../../page/contents/content_files.ts'
import { issuesWords } from '../shown/names/refused.ts'
import { shownExperiment } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'
import { ownerOfShown } from './owner.ts'

/** Gives why the settings do not take the vectors. */
async function take({ file }: Steering): Promise<string | undefined> {
  const name = `${ownerOfShown().stem}.steering.safetensors`
  const source = await contentHash(file)
  const experiment = shownExperiment(shownStore.getState())
  const { model } = experiment
  const steering_vectors = { ...model.steering_vectors, trainable: true, source, source_name: name }
  const lora = { ...model.lora, r: 0 }
  const parsed = parseExperiment({ ...experiment, model: { ...model, lora, steering_vectors } })
  if (!parsed.ok) return issuesWords(parsed.issues).join('\n')
  await keepContent({ hash: source, name, bytes: file })
  return openExperiment(parsed.experiment, name)
}

export function TrainFromVectors({ steering }: { readonly steering: Steering }) {
  const [why, setWhy] = useState<string>()
  return (
    <>
      <button
        type="button"
        data-testid="steering-train"
        title="The next run begins with these vectors and trains them alone; its link names their file, and its bundle carries it"
        onClick={async () => setWhy(await take(steering))}
      >
        Train them on
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

// Draws the files that an experiment names and this machine does not have, and the model that it
// begins with.
import { FileQuestion } from 'lucide-react'
import { useStore } from 'zustand'
import { type NamedContent, shortHash } from '../../document/content/content.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { contentsStore } from '../../page/contents/here.ts'
import { seek } from '../../page/opened/opened_model.ts'
import { startOffer } from '../../page/opened/start_offer.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { showDialog } from '../open/dialogs.ts'
import { chooseFile } from '../open/files.ts'

function Missing({ hash, name }: NamedContent) {
  const experiment = useStore(labStore, (state) => state.experiment)
  const { model, teacher } = experiment
  const isTeacher = hash === teacher.source
  const isStart = isTeacher || hash === model.source || hash === model.lora.source
  const offer = startOffer(experiment, hash)
  if (!isStart)
    return (
      <p title={hash}>
        This experiment uses <strong>{name}</strong> ({shortHash(hash)}), which is not on this
        machine. Drop it here.
      </p>
    )
  return (
    <div>
      <p title={hash}>
        This experiment {isTeacher ? 'learns from' : 'begins with'} <strong>{name}</strong> (
        {shortHash(hash)}), which is not kept in this browser.{' '}
        {offer ? 'Fetch it, or drop' : 'Drop'} its folder here and keep it.
      </p>
      {offer ? (
        <button
          type="button"
          data-testid="fetch-start"
          onClick={() => {
            seek(offer.address)
            showDialog('model')
          }}
        >
          Fetch {offer.place} …
        </button>
      ) : null}
    </div>
  )
}

const selectUnopened = ({ experiment }: LabState) => unopenedModel(experiment)

/** A model that the settings name without a hash: nobody has opened it yet. */
function Unopened({ name }: { readonly name: string }) {
  const lacksGpu = useStore(labStore, selectLacksGpu)
  if (lacksGpu)
    return (
      <p>
        This experiment begins with <strong>{name}</strong>, which is not on this machine. Opening
        and training it need a GPU, and the browser gives the page none.
      </p>
    )
  return (
    <div>
      <p>
        This experiment begins with <strong>{name}</strong>, which is not on this machine. Open it
        here or from the Hugging Face Hub, press <b>Train from it</b>, and choose rows where it asks
        for them. Nothing is downloaded before you agree.
      </p>
      <button
        type="button"
        onClick={() => {
          seek(name)
          showDialog('model')
        }}
      >
        Open a model …
      </button>
    </div>
  )
}

/** Asks for them. They can be dropped anywhere on the page. */
export function MissingFiles() {
  const { status, missing, problem } = useStore(contentsStore)
  const unopened = useStore(labStore, selectUnopened)
  return (
    <section className="card notices" role="alert" data-testid="missing-files">
      <FileQuestion className="icon" aria-hidden="true" />
      <div>
        {unopened === undefined ? null : <Unopened name={unopened} />}
        {missing.map(({ hash, name }) => (
          <Missing key={hash} hash={hash} name={name} />
        ))}
        {problem === undefined ? null : <p data-testid="file-refused">{problem}</p>}
        {status === 'missing' && missing.length > 0 ? (
          <button type="button" onClick={() => chooseFile()}>
            Choose the file
          </button>
        ) : null}
      </div>
    </section>
  )
}

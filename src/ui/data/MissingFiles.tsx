// The files that an experiment names and this machine does not have.
import { FileQuestion } from 'lucide-react'
import { useStore } from 'zustand'
import { type NamedContent, shortHash } from '../../lab/content/content.ts'
import { contentsStore } from '../../lab/page/contents/contents.ts'
import { seek } from '../../lab/page/opened/opened_model.ts'
import { startOffer } from '../../lab/page/opened/start_offer.ts'
import { labStore } from '../../lab/page/store.ts'
import { showDialog } from '../palette/dialogs.ts'
import { chooseFile } from '../palette/files.ts'

function Missing({ hash, name }: NamedContent) {
  const experiment = useStore(labStore, (state) => state.experiment)
  const { model } = experiment
  const is_start = hash === model.source || hash === model.lora.source
  const offer = startOffer(experiment, hash)
  if (!is_start)
    return (
      <p title={hash}>
        This experiment uses <strong>{name}</strong> ({shortHash(hash)}), which is not on this
        machine. Drop it here.
      </p>
    )
  return (
    <div>
      <p title={hash}>
        This experiment begins with <strong>{name}</strong> ({shortHash(hash)}), which is not kept
        in this browser. {offer ? 'Fetch it, or drop' : 'Drop'} its folder here and keep it.
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

/** Asks for them. They can be dropped anywhere on the page. */
export function MissingFiles() {
  const { status, missing, problem } = useStore(contentsStore)
  return (
    <section className="card notices" role="alert" data-testid="missing-files">
      <FileQuestion className="icon" aria-hidden="true" />
      <div>
        {missing.map(({ hash, name }) => (
          <Missing key={hash} hash={hash} name={name} />
        ))}
        {problem === undefined ? null : <p data-testid="file-refused">{problem}</p>}
        {status === 'missing' ? (
          <button type="button" onClick={() => chooseFile()}>
            Choose the file
          </button>
        ) : null}
      </div>
    </section>
  )
}

// The files that an experiment names and this machine does not have, and the model that it begins with.
import { FileQuestion } from 'lucide-react'
import { useStore } from 'zustand'
import { shortHash } from '../../lab/content/content.ts'
import { unopenedModel } from '../../lab/content/models/unopened.ts'
import { contentsStore } from '../../lab/page/contents/contents.ts'
import type { LabState } from '../../lab/page/store.ts'
import { useLab } from '../base/run.ts'
import { showDialog } from '../palette/dialogs.ts'
import { chooseFile } from '../palette/files.ts'

const selectModel = ({ experiment }: LabState) => experiment.model

/** Asks for them. Files can be dropped anywhere on the page. */
export function MissingFiles() {
  const { status, missing, problem } = useStore(contentsStore)
  const model = useLab(selectModel)
  const files = missing.filter(({ hash }) => hash !== model.source)
  const is_model_missing = files.length < missing.length || unopenedModel({ model }) !== undefined
  return (
    <section className="card notices" role="alert" data-testid="missing-files">
      <FileQuestion className="icon" aria-hidden="true" />
      <div>
        {is_model_missing ? (
          <p>
            This experiment begins with <strong>{model.source_name}</strong>
            {model.source === '' ? '' : ` (${shortHash(model.source)})`}, which is not on this
            machine. Open it here or from the Hugging Face Hub, press <b>Train from it</b>, and
            choose rows where it asks for them. Nothing is downloaded before you agree.
          </p>
        ) : null}
        {files.map(({ hash, name }) => (
          <p key={hash} title={hash}>
            This experiment uses <strong>{name}</strong> ({shortHash(hash)}), which is not on this
            machine. Drop it here.
          </p>
        ))}
        {problem === undefined ? null : <p data-testid="file-refused">{problem}</p>}
        {is_model_missing ? (
          <button type="button" onClick={() => showDialog('model')}>
            Open a model …
          </button>
        ) : null}
        {status === 'missing' && files.length > 0 ? (
          <button type="button" onClick={() => chooseFile()}>
            Choose the file
          </button>
        ) : null}
      </div>
    </section>
  )
}

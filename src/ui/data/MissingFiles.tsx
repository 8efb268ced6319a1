// The files that an experiment names and this machine does not have.
import { FileQuestion } from 'lucide-react'
import { useStore } from 'zustand'
import { shortHash } from '../../lab/content/content.ts'
import { contentsStore } from '../../lab/page/contents/contents.ts'
import { chooseFile } from '../palette/files.ts'

/** Asks for them. They can be dropped anywhere on the page. */
export function MissingFiles() {
  const { status, missing, problem } = useStore(contentsStore)
  return (
    <section className="card notices" role="alert" data-testid="missing-files">
      <FileQuestion className="icon" aria-hidden="true" />
      <div>
        {missing.map(({ hash, name }) => (
          <p key={hash} title={hash}>
            This experiment uses <strong>{name}</strong> ({shortHash(hash)}), which is not on this
            machine. Drop it here.
          </p>
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

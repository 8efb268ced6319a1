// Draws the head of the list of studies: what a study is, and the ways to a new one.
import { FolderOpen, Plus } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { parseStudy } from '../../../document/study/study.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { setStudy } from '../../../page/study/study_store.ts'
import { Words } from '../../glossary/Words.tsx'
import { useLab } from '../../shown/run.ts'
import { StudyForm } from '../form/StudyForm.tsx'

/** What a text says; undefined where it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The button that opens a study's file, and what is wrong with the file. */
function useStudyFile() {
  const [problems, setProblems] = useState<readonly string[]>([])
  const input = useRef<HTMLInputElement>(null)
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const text = (await target.files?.[0]?.text()) ?? ''
    const document = jsonOf(text)
    const parsed = parseStudy(document)
    if (parsed.ok) setStudy(parsed.study)
    else if (document === undefined) setProblems(['The file is not JSON.'])
    else setProblems(parsed.issues.map(({ path, message }) => `${path || 'study'}: ${message}`))
  }
  const button = (
    <>
      <button type="button" data-testid="study-file" onClick={() => input.current?.click()}>
        <FolderOpen className="icon" aria-hidden="true" /> Open a study file …
      </button>
      <input
        ref={input}
        hidden
        type="file"
        accept=".json"
        aria-label="A study file"
        onChange={(event) => void read(event)}
      />
    </>
  )
  return { button, problems }
}

export function NewStudy() {
  const [isOpen, setOpen] = useState(false)
  const lacksGpu = useLab(selectLacksGpu)
  const file = useStudyFile()
  return (
    <section className="card" aria-label="New study" data-testid="study-new-card">
      <h2 tabIndex={-1}>Studies</h2>
      <p className="soft">
        <Words text="One question, several settings with the same seeds and the same budget, and one measure. A new study fixes it before anything is trained." />
      </p>
      <p className="study-buttons study-ways">
        <button
          type="button"
          className={isOpen || lacksGpu ? undefined : 'primary'}
          data-testid="study-new"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Plus className="icon" aria-hidden="true" /> New study
        </button>
        {file.button}
      </p>
      {file.problems.map((problem) => (
        <p key={problem} className="bad" role="alert">
          {problem}
        </p>
      ))}
      {isOpen ? <StudyForm /> : null}
    </section>
  )
}

// Draws the head of the list of studies: what a study is, and the ways to a new one.
import { FolderOpen, Plus } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { Issue } from '../../../document/experiment/fields/paths.ts'
import { parseStudy } from '../../../document/study/study.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { readStudyFile } from '../../../page/study/study_file.ts'
import { openLabStudy, openStudyFile } from '../../../page/study/study_store.ts'
import { Words } from '../../glossary/Words.tsx'
import { useLab } from '../../shown/run.ts'
import { endNewStudy, newStudyStore } from '../form/new_study_store.ts'
import { StudyForm } from '../form/StudyForm.tsx'

/** What no study is without. */
const NEEDED = ['question', 'seeds', 'measure']

const resultsAlone = (name: string): string =>
  `“${name}” holds results without their study. Open the .zip that “Save a report” writes: it holds both.`

/** What is wrong with a file that is no study: first that, then what is wrong with one that is
 * nearly one. */
export function fileProblems(name: string, document: unknown, issues: readonly Issue[]): string[] {
  if (document === undefined)
    return [`“${name}” is not a study file: it is neither JSON nor the .zip of a report.`]
  const has = (field: string) =>
    typeof document === 'object' && Object(document)[field] !== undefined
  if (!NEEDED.some(has))
    return [`“${name}” is not a study file: it has no question, no seeds and no measure.`]
  const lines = issues.map(({ path, message }) => `${path || 'study'}: ${message}`)
  return [`“${name}” is not a whole study file, so it was not opened:`, ...lines]
}

/** The button that opens a study's file, and what is wrong with the file. */
function useStudyFile() {
  const [problems, setProblems] = useState<readonly string[]>([])
  const input = useRef<HTMLInputElement>(null)
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0]
    if (!file) return
    const { document, results, isOfResults } = await readStudyFile(file)
    // The same file may be chosen again once it is mended.
    target.value = ''
    const parsed = parseStudy(document)
    if (parsed.ok && results.length > 0) await openStudyFile(parsed.study, file.name, results)
    else if (parsed.ok) await openLabStudy(parsed.study)
    else if (isOfResults) setProblems([resultsAlone(file.name)])
    else setProblems(fileProblems(file.name, document, parsed.issues))
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
        accept=".json,.jsonl,.zip"
        aria-label="A study file"
        onChange={(event) => void read(event)}
      />
    </>
  )
  return { button, problems }
}

export function NewStudy() {
  const isOpen = useStore(newStudyStore, (state) => state.isOpen)
  const opener = useRef<HTMLButtonElement>(null)
  const lacksGpu = useLab(selectLacksGpu)
  const file = useStudyFile()
  const discard = () => {
    endNewStudy()
    opener.current?.focus()
  }
  return (
    <section className="card" aria-label="New study" data-testid="study-new-card">
      <h2 tabIndex={-1}>Studies</h2>
      <p className="soft">
        <Words text="One question, several settings with the same seeds and the same budget, and one measure. A new study fixes it before anything is trained." />
      </p>
      <p className="study-buttons study-ways">
        <button
          ref={opener}
          type="button"
          className={isOpen || lacksGpu ? undefined : 'primary'}
          data-testid="study-new"
          aria-expanded={isOpen}
          onClick={() => newStudyStore.setState({ isOpen: !isOpen })}
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
      {isOpen ? <StudyForm onDiscard={discard} /> : null}
    </section>
  )
}

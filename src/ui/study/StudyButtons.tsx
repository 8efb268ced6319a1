// Draws what can be done with the open study, and how long its missing runs take.
import { FEWEST_PAIRS } from '../../document/study/statistics/student.ts'
import type { Study } from '../../document/study/study.ts'
import { encodeStudy } from '../../document/study/study_link.ts'
import type { Estimate } from '../../page/paces/estimator.ts'
import { begunRuns } from '../../page/study/begun_runs.ts'
import { isOfLab } from '../../page/study/recorded.ts'
import type { StudyState } from '../../page/study/study_state.ts'
import { copyStudy, pauseStudy, setStudy } from '../../page/study/study_store.ts'
import { showToast } from '../shown/store.ts'
import { DeleteStudy } from './list/DeleteStudy.tsx'
import { pageAddress, saveStudyFolder } from './study_files.ts'
import { TrainStudy } from './TrainStudy.tsx'

/** The study's address. */
const linkOf = (study: Study): string => `${pageAddress()}#tab=study&study=${encodeStudy(study)}`

async function copyLink(study: Study): Promise<void> {
  try {
    await navigator.clipboard.writeText(linkOf(study))
    showToast('The link is in the clipboard')
  } catch {
    showToast('The browser did not let the page write to the clipboard')
  }
}

/** `isNext`: what the study wants. */
function Seeds({ study, isNext }: { readonly study: Study; readonly isNext: boolean }) {
  const next = Math.max(...study.seeds) + 1
  return (
    <>
      <button
        type="button"
        className={isNext ? 'primary' : ''}
        data-testid="study-more-seeds"
        onClick={() => setStudy({ ...study, seeds: [...study.seeds, next] })}
      >
        One more seed
      </button>
      <button
        type="button"
        data-testid="study-fewer-seeds"
        disabled={study.seeds.length < 2}
        onClick={() => setStudy({ ...study, seeds: study.seeds.slice(0, -1) })}
      >
        One seed less
      </button>
    </>
  )
}

interface ButtonsProps {
  readonly state: StudyState
  readonly study: Study
  /** Runs that are still to be trained. */
  readonly missing: number
  /** Runs from which a report can be made. */
  readonly known: number
  readonly time: Estimate | undefined
  /** The form that changes it. */
  readonly change: {
    /** False where the form cannot hold the study. */
    readonly canChange: boolean
    readonly isOpen: boolean
    toggle(): void
  }
}

function Change({ canChange, isOpen, toggle }: ButtonsProps['change']) {
  return (
    <button
      type="button"
      data-testid="study-change"
      aria-expanded={isOpen}
      disabled={!canChange}
      title={
        canChange
          ? 'Question, base, arms, fields, seeds, budget and measure'
          : 'Each of its arms is searched in a grid of its own, which the form cannot hold. Save study.json, change it there and open it again.'
      }
      onClick={toggle}
    >
      Change …
    </button>
  )
}

export function StudyButtons({ state, study, missing, known, time, change }: ButtonsProps) {
  const { is_training } = state
  const isFixed = isOfLab({ study, recorded: state.recorded })
  /** What no link brings along. */
  const hasOwn = known > 0 && !isFixed
  const isAnswered = study.seeds.length >= FEWEST_PAIRS
  const isReportFirst = missing === 0 && isAnswered
  return (
    <p className="study-buttons">
      {is_training ? (
        <button type="button" data-testid="study-pause" onClick={pauseStudy}>
          Pause
        </button>
      ) : missing === 0 ? null : (
        <TrainStudy
          others={state.others}
          missing={missing}
          isBegun={begunRuns(state).length > 0}
          time={time}
        />
      )}
      {known > 0 ? (
        <button
          type="button"
          className={isReportFirst ? 'primary' : ''}
          data-testid="study-report"
          title="The report with its pictures, the tables, the study and its runs, in one .zip"
          onClick={() => void saveStudyFolder(state)}
        >
          Save a report
        </button>
      ) : null}
      {isFixed ? (
        <button
          type="button"
          data-testid="study-copy"
          title="A study of the lab stays as it was recorded. In a copy of it all can be changed, and its runs are kept."
          onClick={() => {
            copyStudy()
            if (change.canChange) change.toggle()
          }}
        >
          Make a copy to change
        </button>
      ) : (
        <>
          <Seeds study={study} isNext={missing === 0 && !isAnswered} />
          <Change {...change} />
        </>
      )}
      <button
        type="button"
        data-testid="study-link"
        title={
          hasOwn
            ? 'The link holds the plan of the study. “Save a report” writes a .zip that holds its results as well, and opens with “Open a study file …”'
            : undefined
        }
        onClick={() => void copyLink(study)}
      >
        {hasOwn ? 'Copy the link, without results' : 'Copy the link'}
      </button>
      {isFixed ? null : <DeleteStudy id={state.id} study={study} />}
    </p>
  )
}

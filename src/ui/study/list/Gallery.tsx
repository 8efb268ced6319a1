// Draws the studies that come with the lab: what each asked and found, a button that opens it here,
// and one that puts the settings of one of its arms into the form.
import { useState } from 'react'
import { decodeLink } from '../../../document/links/link.ts'
import { foundOf } from '../../../document/study/report/answer.ts'
import { decodeStudy } from '../../../document/study/study_link.ts'
import { cutText } from '../../../formats/cut_text.ts'
import { openExperiment } from '../../../page/client/opening.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { openLabStudy } from '../../../page/study/study_store.ts'
import { t } from '../../kit/translator.ts'
import { isPhone } from '../../part/Fold.tsx'
import { useLab } from '../../shown/run.ts'
import { openTab, showToast } from '../../shown/store.ts'
import { FoundMark } from './FoundMark.tsx'
import type { Family, GalleryEntry } from './gallery_families.ts'

/** Letters of an arm's name on its button. */
const MOST_LETTERS = 24

/** Puts the settings of a study's arm into the form, as an edit. */
function takeArm({ link, arm, name }: GalleryEntry): void {
  const { experiment, preset_id } = decodeLink(link)
  const refused = openExperiment(experiment, `“${arm}” of “${name}”`, preset_id)
  if (refused === undefined) openTab('learn')
  showToast(refused ?? `The settings are those of “${arm}”. Train trains it alone.`)
}

interface RowProps {
  readonly member: Family['members'][number]
  onOpen(entry: GalleryEntry): void
}

function Row({ member: { entry, name, question }, onOpen }: RowProps) {
  const { id, answer, verdicts, arm } = entry
  return (
    <li data-testid={`study-gallery-${id}`}>
      <h4>{name}</h4>
      <div>
        {question ? <p>{question}</p> : null}
        <p className="soft">
          <FoundMark found={foundOf(verdicts)} />
          {answer}
        </p>
      </div>
      <p className="study-buttons study-of-lab">
        <button
          type="button"
          aria-label={`Open the study “${entry.name}”`}
          onClick={() => onOpen(entry)}
        >
          Open
        </button>
        <button
          type="button"
          className="plain study-take"
          data-testid="study-take-arm"
          title={`Puts the settings of “${arm}”, the arm that all others are compared with, into the form, where Train trains it alone. Undo brings yours back.`}
          onClick={() => takeArm(entry)}
        >
          Settings of the baseline “{cutText(t(arm), MOST_LETTERS)}”
        </button>
      </p>
    </li>
  )
}

interface FamilyProps extends Pick<RowProps, 'onOpen'> {
  readonly family: Family
  /** Those that a search left. */
  readonly isFound: boolean
}

/** On a phone a heading that opens: the studies of all of them are many windows high. */
function FamilyList({ family, isFound, onOpen }: FamilyProps) {
  const { title, question, members } = family
  return (
    <details className="study-family" open={isFound || !isPhone()}>
      <summary>
        <h3>{title}</h3> <span className="soft">{members.length}</span>
      </summary>
      {question ? <p className="soft">{question}</p> : null}
      <ul className="study-rows">
        {members.map((member) => (
          <Row key={member.entry.id} member={member} onOpen={onOpen} />
        ))}
      </ul>
    </details>
  )
}

interface GalleryProps {
  readonly families: readonly Family[]
  readonly isFound?: boolean
}

export function Gallery({ families, isFound = false }: GalleryProps) {
  const [problem, setProblem] = useState('')
  const lacksGpu = useLab(selectLacksGpu)
  const open = ({ study }: GalleryEntry) => {
    const parsed = decodeStudy(study)
    if (parsed.ok) void openLabStudy(parsed.study)
    else setProblem(parsed.issues.map(({ message }) => message).join('; '))
  }
  return (
    <section className="card" aria-label="Studies of the lab" data-testid="study-gallery">
      <h2>Studies of the lab</h2>
      <p className="soft">
        Each opens with the runs that were recorded of it, its arms and its pictures;{' '}
        {lacksGpu ? 'training it needs a GPU' : 'you can also train it here'}. Their reports, with
        all limits, lie beside the source code of this page, in its folder <code>docs/studies</code>
        .
      </p>
      {families.length > 0 ? null : <p>No study of the lab holds these words.</p>}
      {problem ? (
        <p className="bad" role="alert">
          {problem}
        </p>
      ) : null}
      {families.map((family) => (
        <FamilyList
          key={`${family.title} ${isFound}`}
          family={family}
          isFound={isFound}
          onOpen={open}
        />
      ))}
    </section>
  )
}

// Draws the studies that come with the lab: what each asked and found, a link that trains one of
// its arms, and a button that opens it here.
import { useState } from 'react'
import { shortenAnswer } from '../../document/study/report/short_answer.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import { openLabStudy } from '../../page/study/study_store.ts'
import { type Family, foundOf, type GalleryEntry } from './gallery_families.ts'

interface RowProps {
  readonly member: Family['members'][number]
  onOpen(entry: GalleryEntry): void
}

function Row({ member: { entry, name, question }, onOpen }: RowProps) {
  const { id, answer, arm, link } = entry
  return (
    <li data-testid={`study-gallery-${id}`}>
      <h4>{name}</h4>
      <div>
        {question ? <p>{question}</p> : null}
        <p className="soft">
          {foundOf(answer).map((found) => (
            <span key={found} className={`study-found ${found.replace(' ', '-')}`}>
              {found}
            </span>
          ))}
          {shortenAnswer(answer)}
        </p>
      </div>
      <p className="study-buttons">
        <button
          type="button"
          aria-label={`Open the study “${entry.name}”`}
          onClick={() => onOpen(entry)}
        >
          Open
        </button>
        <a href={`?${link}`} title={`Train one arm: ${arm}`}>
          Train one arm
        </a>
      </p>
    </li>
  )
}

function FamilyList({ family, onOpen }: { family: Family; onOpen: RowProps['onOpen'] }) {
  const { title, question, members } = family
  return (
    <section className="study-family" aria-label={title}>
      <h3>{title}</h3>
      {question ? <p className="soft">{question}</p> : null}
      <ul className="study-rows">
        {members.map((member) => (
          <Row key={member.entry.id} member={member} onOpen={onOpen} />
        ))}
      </ul>
    </section>
  )
}

export function Gallery({ families }: { readonly families: readonly Family[] }) {
  const [problem, setProblem] = useState('')
  const open = ({ study }: GalleryEntry) => {
    const parsed = decodeStudy(study)
    if (parsed.ok) void openLabStudy(parsed.study)
    else setProblem(parsed.issues.map(({ message }) => message).join('; '))
  }
  return (
    <section className="card" aria-label="Studies of the lab" data-testid="study-gallery">
      <h2>Studies of the lab</h2>
      <p className="soft">
        Each opens with the runs that were recorded of it, its arms and its pictures; you can also
        train it here. Reports with all limits are in the folder docs/studies of the lab’s source.
      </p>
      {problem ? (
        <p className="bad" role="alert">
          {problem}
        </p>
      ) : null}
      {families.map((family) => (
        <FamilyList key={family.title} family={family} onOpen={open} />
      ))}
    </section>
  )
}

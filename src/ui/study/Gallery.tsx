// The studies that come with the lab: what each asked and found, a link that trains one of its
// arms, and a button that opens it here.
import { useState } from 'react'
import { decodeStudy } from '../../document/study/study_link.ts'
import gallery from '../../page/study/gallery.json' with { type: 'json' }
import { openLabStudy } from '../../page/study/study_store.ts'

type Entry = (typeof gallery)[number]

function Card({ entry, onProblem }: { readonly entry: Entry; onProblem(problem: string): void }) {
  const { id, name, question, answer, study, arm, link } = entry
  const open = () => {
    const parsed = decodeStudy(study)
    if (parsed.ok) void openLabStudy(parsed.study)
    else onProblem(parsed.issues.map(({ message }) => message).join('; '))
  }
  return (
    <li data-testid={`study-gallery-${id}`}>
      <h3>{name}</h3>
      <p>{question}</p>
      <p className="soft">{answer}</p>
      <p className="study-buttons">
        <button type="button" onClick={open}>
          Open the study
        </button>{' '}
        <a href={`?${link}`}>Train one arm: {arm}</a>
      </p>
    </li>
  )
}

export function Gallery() {
  const [problem, setProblem] = useState('')
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
      <ul className="study-gallery">
        {gallery.map((entry) => (
          <Card key={entry.id} entry={entry} onProblem={setProblem} />
        ))}
      </ul>
    </section>
  )
}

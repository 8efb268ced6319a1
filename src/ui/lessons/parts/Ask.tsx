// Draws a question of a lesson: choices, and an answer to each.
import { CircleCheck, CircleHelp, CircleX } from 'lucide-react'
import { useState } from 'react'
import type { Question } from '../base/lesson.ts'
import { usePart } from './context.ts'

export function Ask({ name, of }: { readonly name: string; readonly of: Question }) {
  const { isDone, done, chose } = usePart(name)
  const [chosen, setChosen] = useState<number>()
  const isRight = chosen === undefined ? isDone : of.choices[chosen].is_right === true
  const choose = (index: number) => {
    setChosen(index)
    chose(index)
    if (of.choices[index].is_right) done()
  }
  const isWrong = chosen !== undefined && !isRight
  const Icon = isRight ? CircleCheck : isWrong ? CircleX : CircleHelp
  return (
    <fieldset className="lesson-part" data-testid={`question-${name}`} data-done={isDone}>
      <legend>
        <Icon className="icon" aria-hidden="true" /> {of.asks}
      </legend>
      <div className="lesson-choices">
        {of.choices.map(({ text, is_right: isAnswer }, i) => (
          <label key={text}>
            <input
              type="radio"
              name={`question ${name}`}
              checked={chosen === undefined ? isDone && isAnswer === true : chosen === i}
              onChange={() => choose(i)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
      <p role="status" className={isRight ? 'lesson-right' : 'lesson-wrong'}>
        {isRight ? of.because : null}
        {isWrong ? (
          <>
            <span>No.</span> {of.hint}
          </>
        ) : null}
      </p>
    </fieldset>
  )
}

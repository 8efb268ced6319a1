// Draws one item of the course that is being made.
import { ArrowUp, Trash2 } from 'lucide-react'
import type { CourseItem, CourseQuestion } from '../../document/course/course.ts'
import { changeItem, type DraftItem, moveUp, NEW_QUESTION, removeItem } from './draft.ts'
import { TextField } from './fields.tsx'
import { itemTitle } from './items.ts'

const KINDS: Readonly<Record<CourseItem['kind'], string>> = {
  lesson: 'Lesson',
  run: 'Experiment',
  page: 'Page',
}

interface QuestionProps {
  readonly question: CourseQuestion
  readonly number: number
  readonly onQuestion: (question: CourseQuestion | undefined) => void
}

function QuestionFields({ question, number, onQuestion }: QuestionProps) {
  const { asks, choices, right, because, hint } = question
  const change = (part: Partial<CourseQuestion>) => onQuestion({ ...question, ...part })
  return (
    <fieldset className="course-question">
      <legend>Question {number}</legend>
      <TextField
        label="Question"
        testId="question-asks"
        value={asks}
        onValue={(value) => change({ asks: value })}
      />
      <TextField
        label="Choices, one in a line"
        testId="question-choices"
        rows={3}
        value={choices.join('\n')}
        onValue={(value) => change({ choices: value.split('\n') })}
      />
      <label>
        <span>The right one</span>
        <select
          data-testid="question-right"
          value={right}
          onChange={({ target }) => change({ right: Number(target.value) })}
        >
          {choices.map((text, i) => (
            <option key={i} value={i}>
              {text || `line ${i + 1}`}
            </option>
          ))}
        </select>
      </label>
      <TextField
        label="Said after the right one"
        value={because}
        onValue={(value) => change({ because: value })}
      />
      <TextField
        label="Said after a wrong one: why, or where to look"
        value={hint}
        onValue={(value) => change({ hint: value })}
      />
      <p>
        <button type="button" onClick={() => onQuestion(undefined)}>
          Remove question {number}
        </button>
      </p>
    </fieldset>
  )
}

type Page = Extract<CourseItem, { kind: 'page' }>

function PageFields({
  item,
  onItem,
}: {
  readonly item: Page
  readonly onItem: (item: Page) => void
}) {
  const { title, text, questions } = item
  return (
    <>
      <TextField
        label="Title"
        testId="page-title"
        value={title}
        onValue={(value) => onItem({ ...item, title: value })}
      />
      <TextField
        label="Text; an empty line begins a new paragraph"
        testId="page-text"
        rows={5}
        value={text}
        onValue={(value) => onItem({ ...item, text: value })}
      />
      {questions.map((question, i) => (
        <QuestionFields
          key={i}
          question={question}
          number={i + 1}
          onQuestion={(changed) =>
            onItem({
              ...item,
              questions: questions.flatMap((one, j) =>
                j === i ? (changed === undefined ? [] : [changed]) : [one],
              ),
            })
          }
        />
      ))}
      <p>
        <button
          type="button"
          data-testid="add-question"
          onClick={() => onItem({ ...item, questions: [...questions, NEW_QUESTION] })}
        >
          Add a question
        </button>
      </p>
    </>
  )
}

export function ItemFields({ of, index }: { readonly of: DraftItem; readonly index: number }) {
  const { key, item } = of
  const name = itemTitle(item) || `${KINDS[item.kind]} ${index + 1}`
  const set = (changed: CourseItem) => changeItem(key, changed)
  return (
    <li className="course-item" data-testid={`draft-${index}`}>
      <p className="course-item-head">
        <b>
          {KINDS[item.kind]}: {name}
        </b>
        <button
          type="button"
          className="plain"
          disabled={index === 0}
          aria-label={`Move “${name}” up`}
          onClick={() => moveUp(index)}
        >
          <ArrowUp className="icon" aria-hidden="true" />
        </button>
        <button
          type="button"
          className="plain"
          aria-label={`Remove “${name}”`}
          onClick={() => removeItem(key)}
        >
          <Trash2 className="icon" aria-hidden="true" />
        </button>
      </p>
      {item.kind === 'page' ? <PageFields item={item} onItem={set} /> : null}
      {item.kind === 'run' ? (
        <>
          <TextField
            label="Title"
            testId="run-title"
            value={item.title}
            onValue={(value) => set({ ...item, title: value })}
          />
          <TextField
            label="What to look at"
            rows={3}
            value={item.text}
            onValue={(value) => set({ ...item, text: value })}
          />
          <p className="soft course-link">{item.link}</p>
        </>
      ) : null}
    </li>
  )
}

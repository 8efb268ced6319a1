// Draws every term of the page in one list.

import { closeDialog } from '../open/dialogs.ts'
import { openLesson } from '../open/open_lesson.ts'
import { Modal } from '../part/Modal.tsx'
import { Meaning } from './Meaning.tsx'
import { TERMS } from './terms.ts'
import './glossary.css'

export function Glossary() {
  return (
    <Modal name="glossary" label="Glossary">
      <div className="dialog-head">
        <h2>Glossary</h2>
        <button type="button" onClick={() => closeDialog('glossary')}>
          Close
        </button>
      </div>
      <div className="glossary">
        {TERMS.map((term) => (
          <section key={term.id}>
            <h3>{term.name}</h3>
            <Meaning
              term={term}
              onLesson={(lesson) => {
                closeDialog('glossary')
                openLesson(lesson)
              }}
            />
          </section>
        ))}
      </div>
    </Modal>
  )
}

// Draws every term of the page in one list.

import { locale, t } from '../kit/translator.ts'
import { closeDialog } from '../open/dialogs.ts'
import { openLesson } from '../open/open_lesson.ts'
import { Modal } from '../part/Modal.tsx'
import { Meaning } from './Meaning.tsx'
import { TERMS, type Term } from './terms.ts'
import './glossary.css'

/** By their names in the page's language, in which somebody looks for them. */
export function termsInOrder(): readonly Term[] {
  const { compare } = new Intl.Collator(locale())
  return TERMS.toSorted((a, b) => compare(t(a.name), t(b.name)))
}

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
        {termsInOrder().map((term) => (
          <section key={term.id}>
            <h3>
              <span>{term.name}</span>
              {t(term.name).toLowerCase() === term.name.toLowerCase() ? null : (
                <small className="soft" translate="no">
                  {` ${term.name}`}
                </small>
              )}
            </h3>
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

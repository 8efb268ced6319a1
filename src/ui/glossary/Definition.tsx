// Shows the meaning of a term beside the word that was pressed.
import { type ToggleEvent, useEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { t } from '../kit/translator.ts'
import { showDialog } from '../open/dialogs.ts'
import { openLesson } from '../open/open_lesson.ts'
import { Meaning } from './Meaning.tsx'
import { otherWord, termOf } from './terms.ts'

interface DefinitionProps {
  readonly id: string
  /** What was pressed. */
  readonly word: string
  readonly beside: HTMLElement
  readonly onClose: () => void
}

/** Between the word and its definition, and between that and the window's edge; px. */
const GAP = 6

/** Below the word, or above it where there is no room. */
function place(box: HTMLElement, beside: HTMLElement): void {
  const { left, top, bottom } = beside.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = box
  const below = bottom + GAP
  const fits = below + height + GAP <= innerHeight || top < height + 2 * GAP
  box.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`
  box.style.top = `${fits ? below : top - height - GAP}px`
}

export function Definition({ id, word, beside, onClose }: DefinitionProps) {
  const box = useRef<HTMLDivElement>(null)
  const term = termOf(id)
  useEffect(() => {
    const shown = box.current
    if (!shown) return
    shown.showPopover()
    shown.focus({ preventScroll: true })
    const settle = () => place(shown, beside)
    settle()
    // A formula comes later and makes it higher.
    const watch = new ResizeObserver(settle)
    watch.observe(shown)
    addEventListener('scroll', settle)
    return () => {
      watch.disconnect()
      removeEventListener('scroll', settle)
    }
  }, [beside])
  const onToggle = ({ newState }: ToggleEvent) => {
    if (newState === 'open') return
    if (box.current?.contains(document.activeElement)) beside.focus({ preventScroll: true })
    onClose()
  }
  if (!term) return null
  const other = otherWord(word, t(term.name))
  return createPortal(
    <div
      ref={box}
      popover="auto"
      role="dialog"
      aria-label={other ?? term.name}
      tabIndex={-1}
      className="definition"
      data-testid="definition"
      onToggle={onToggle}
    >
      <h3>{other ?? term.name}</h3>
      {other === undefined ? null : (
        <p className="soft">
          In the glossary: <span>{term.name}</span>
        </p>
      )}
      <Meaning
        term={term}
        onLesson={(lesson) => {
          box.current?.hidePopover()
          openLesson(lesson)
        }}
      />
      <button
        type="button"
        className="plain"
        onClick={() => {
          box.current?.hidePopover()
          showDialog('glossary')
        }}
      >
        All terms
      </button>
    </div>,
    // What lies outside a modal dialog cannot be reached.
    beside.closest('dialog') ?? document.body,
  )
}

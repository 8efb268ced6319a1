// Draws the first screen where the browser gives no GPU: offers what works, and says what to do
// about it.
import { BookOpen } from 'lucide-react'

import { useState } from 'react'
import { Failure } from '../notices/Failure.tsx'
import { ALL_LESSONS, openLesson } from '../open/open_lesson.ts'
import { WatchRecording } from '../replay/WatchRecording.tsx'

export function WithoutGpu() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <div className="forest-ways">
        <WatchRecording isPrimary />
        <button type="button" data-testid="read-lessons" onClick={() => openLesson(ALL_LESSONS)}>
          <BookOpen className="icon" aria-hidden="true" /> Read the lessons
        </button>
        <button
          type="button"
          className="plain"
          data-testid="train-here"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          What training needs
        </button>
      </div>
      {isOpen ? <Failure /> : null}
      <p className="soft" data-testid="lacks-gpu">
        Training needs a GPU, and this browser gives the page none yet. The lessons and recorded
        runs work without one.
      </p>
    </>
  )
}

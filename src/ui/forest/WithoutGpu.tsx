// Draws the first screen where the browser gives no GPU: offers what works, and says what to do
// about it.
import { BookOpen, ChevronDown, ChevronUp } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { Failure } from '../notices/Failure.tsx'
import { hideNeeds, needsStore, showNeeds } from '../open/find_gpu.ts'
import { ALL_LESSONS, openLesson } from '../open/open_lesson.ts'
import { WatchRecording } from '../replay/WatchRecording.tsx'

export function WithoutGpu() {
  const { asked } = useStore(needsStore)
  const needs = useRef<HTMLDivElement>(null)
  // The button that asked for it may be at the other end of the page.
  useEffect(() => {
    if (asked) needs.current?.scrollIntoView({ block: 'nearest' })
  }, [asked])
  return (
    <>
      <div className="forest-ways">
        <WatchRecording isPrimary />
        <button type="button" data-testid="read-lessons" onClick={() => openLesson(ALL_LESSONS)}>
          <BookOpen className="icon" aria-hidden="true" /> Read the lessons
        </button>
        <button
          type="button"
          data-testid="train-here"
          aria-expanded={asked !== undefined}
          onClick={asked ? hideNeeds : showNeeds}
        >
          What training needs
          {asked ? (
            <ChevronUp className="icon" aria-hidden="true" />
          ) : (
            <ChevronDown className="icon" aria-hidden="true" />
          )}
        </button>
      </div>
      {asked ? (
        <div ref={needs}>
          <Failure />
        </div>
      ) : null}
      <p className="soft" data-testid="lacks-gpu">
        Training needs a GPU, and this browser gives the page none yet. The lessons and recorded
        runs work without one. Nothing leaves this browser.
      </p>
    </>
  )
}

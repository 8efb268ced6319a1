// Tells screen readers how the run goes.
import { useEffect, useRef, useState } from 'react'
import { useLab } from '../shown/run.ts'
import { quietFor, statusSentence } from './announce.ts'

/** Tells screen readers how the run goes; errors are announced where they appear. */
export function Announcer() {
  const sentence = useLab(statusSentence)
  const [said, setSaid] = useState('')
  const saidAt = useRef<number>(undefined)
  useEffect(() => {
    if (sentence === said) return
    const timer = setTimeout(
      () => {
        saidAt.current = performance.now()
        setSaid(sentence)
      },
      quietFor(saidAt.current, performance.now()),
    )
    return () => clearTimeout(timer)
  }, [sentence, said])
  return (
    <p className="visually-hidden" role="status" data-testid="announcer">
      {said}
    </p>
  )
}

// Draws a field for one file, which can also be dropped anywhere on the page.
import { useEffect, useRef } from 'react'

export function FilePicker(props: {
  readonly label: string
  readonly id: string
  readonly file: File | undefined
  /** Takes the focus when it appears. */
  readonly isFirst?: boolean
  readonly onFile: (file: File) => void
}) {
  const { label, id, file, isFirst = false, onFile } = props
  const input = useRef<HTMLInputElement>(null)
  // The dialog was open before this was loaded, so the focus was on nothing in it.
  useEffect(() => {
    if (isFirst) input.current?.focus()
  }, [isFirst])
  return (
    <label className="data-file">
      <span>
        {file ? (
          <>
            {label}: <span translate="no">{file.name}</span>
          </>
        ) : (
          label
        )}
      </span>
      <input
        ref={input}
        type="file"
        data-testid={id}
        accept=".jsonl,.ndjson,.json,.csv,.tsv,.parquet,.pq,.txt,.text,.md"
        onChange={({ target }) => {
          const [chosen] = target.files ?? []
          if (chosen) onFile(chosen)
        }}
      />
    </label>
  )
}

// Asks for the files of a tokenizer of one's own, for the dialog for data.
import { useEffect, useState } from 'react'
import { type ContentFile, readTokenizer } from '../../page/client/data_file.ts'

interface Picked {
  readonly of: readonly File[]
  readonly content?: ContentFile
  readonly why?: string
}

/** The chosen files as one, or why they cannot be read; undefined while they are read. */
export function useTokenizer(files: readonly File[]): Picked | undefined {
  const [picked, setPicked] = useState<Picked>()
  useEffect(() => {
    if (files.length === 0) return undefined
    let isHere = true
    readTokenizer(files).then(
      (content) => isHere && setPicked({ of: files, content }),
      (error) => isHere && setPicked({ of: files, why: String(error?.message ?? error) }),
    )
    return () => {
      isHere = false
    }
  }, [files])
  return picked?.of === files ? picked : undefined
}

export function TokenizerPicker(props: {
  readonly files: readonly File[]
  readonly onFiles: (files: readonly File[]) => void
}) {
  const { files, onFiles } = props
  const names = files.map(({ name }) => name).join(', ')
  return (
    <label className="data-file">
      <span>
        {names === ''
          ? 'tokenizer.json, and the files beside it if you like'
          : `Tokenizer: ${names}`}
      </span>
      <input
        type="file"
        multiple
        data-testid="data-tokenizer-file"
        accept=".json,.jinja"
        onChange={({ target }) => onFiles([...(target.files ?? [])])}
      />
    </label>
  )
}

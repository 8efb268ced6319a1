// Reads from the browser's storage which checkpoints of a run are kept.
import { useEffect, useState } from 'react'
import { listCheckpoints } from '../../host/checkpoints/storage/browse.ts'
import type { CheckpointEntry } from '../../host/protocol/checkpoint_facts.ts'

/** What is kept of a run; undefined until that is read. It is read again when `version` changes. */
export function useCheckpoints(
  record: string,
  version: unknown = undefined,
): readonly CheckpointEntry[] | undefined {
  const [read, setRead] = useState<{ of: string; entries: readonly CheckpointEntry[] }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version says that the files changed.
  useEffect(() => {
    let isAsked = true
    void listCheckpoints(record).then((entries) => {
      if (isAsked) setRead({ of: record, entries })
    })
    return () => {
      isAsked = false
    }
  }, [record, version])
  return read?.of === record ? read.entries : undefined
}

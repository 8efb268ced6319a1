// Leads from the compact page to the whole one.
import { ExternalLink } from 'lucide-react'
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { encodeLink } from '../../document/links/link.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import { useLab } from '../shown/run.ts'

const selectIsEmbedded = (state: ShareState) => state.options.embed
const selectHasNoHead = ({ options }: ShareState) =>
  options.embed || options.hide.includes('header')

/** The page's name where its head is not shown: people who hear the page go by headings. */
export function HiddenHeading() {
  return useStore(shareStore, selectHasNoHead) ? (
    <h1 className="visually-hidden">Understory</h1>
  ) : null
}

/** From the compact page to the whole one, with the same experiment. */
export function FullPage() {
  return useStore(shareStore, selectIsEmbedded) ? <FullPageLink /> : null
}

function FullPageLink() {
  const experiment = useLab(nextExperiment)
  const url = useMemo(() => `?${encodeLink(experiment)}`, [experiment])
  return (
    <a className="full-page" href={url} target="_blank" rel="noopener" data-testid="full-page">
      Understory <ExternalLink className="icon" aria-hidden="true" />
    </a>
  )
}

// Draws the dialog in which a person looks at a model of a folder. What is inside is loaded when it
// is first opened.
import { lazyPart, Opening } from '../../part/lazy_part.tsx'
import { Modal } from '../../part/Modal.tsx'

const ModelView = lazyPart(async () => (await import('./ModelView.tsx')).ModelView, {
  name: 'The model',
  fallback: <Opening />,
})

export function ModelDialog() {
  return (
    <Modal name="model" label="Open a model">
      <ModelView />
    </Modal>
  )
}

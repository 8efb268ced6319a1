// Draws the dialog that chooses tools. What is inside is loaded when it is first opened.
import { lazyPart, Opening } from '../../part/lazy_part.tsx'
import { Modal } from '../../part/Modal.tsx'

const ToolsForm = lazyPart(async () => (await import('./ToolsForm.tsx')).ToolsForm, {
  name: 'The tools',
  fallback: <Opening />,
})

export function ToolsDialog() {
  return (
    <Modal name="tools" label="Tools">
      <ToolsForm />
    </Modal>
  )
}

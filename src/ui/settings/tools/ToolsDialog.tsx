// The dialog that chooses tools. What is inside is loaded when it is first opened.
import { lazyPart } from '../../base/page/lazy_part.tsx'
import { Modal } from '../../palette/Modal.tsx'

const ToolsForm = lazyPart(async () => (await import('./ToolsForm.tsx')).ToolsForm, {
  name: 'The tools',
  fallback: <p className="soft">Opening …</p>,
})

export function ToolsDialog() {
  return (
    <Modal name="tools" label="Tools">
      <ToolsForm />
    </Modal>
  )
}

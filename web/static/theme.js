// Light, dark, or the system's theme.

import { local } from './state.js';

export function applyTheme() {
  const theme = local.get('theme', 'system');
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function setTheme(theme) {
  local.set('theme', theme);
  applyTheme();
}

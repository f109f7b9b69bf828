import { mount } from 'svelte';

import App from './App.svelte';
import { chooseBackend } from './backend/choose';
import './styles/base.css';

const target = document.getElementById('app');
if (target) mount(App, { target, props: { backend: await chooseBackend() } });

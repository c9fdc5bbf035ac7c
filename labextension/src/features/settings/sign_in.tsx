/** The sign-in to a subscription: with a code here, or in the provider's own program. */
import { useEffect, useState } from 'react';

import type { ProviderCard, SignInCode, Subscription } from '../../protocol/wire';
import { useTemporaryFlag } from '../../shared/hooks';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { SettingField } from './setting_field';
import type { Settings } from './settings';

export interface SignInActs {
  signIn: () => void;
  cancelSignIn: () => void;
  signOut: () => void;
}

export interface SignInProps extends SignInActs {
  card: ProviderCard;
  subscription: Subscription;
  settings: Settings;
  online: boolean;
}

export function SignIn(props: SignInProps): JSX.Element {
  const { card, subscription, settings, online, signIn, signOut } = props;
  const { trans } = useUi();
  const { kind, state, code } = subscription;
  return (
    <section className="onyx-Setting" aria-label={trans.__('Sign-in')}>
      <h4>{trans.__('Sign-in')}</h4>
      <p role="status" data-onyx="sign-in-state" data-state={state} className={stateClass(state)}>
        {stateWords(subscription, trans)}
      </p>
      {kind === 'device' && state === 'pending' && code && (
        <PendingCode key={code.userCode} code={code} {...props} />
      )}
      {kind === 'device' && state === 'signed_in' && (
        <>
          {card.key === 'store' && (
            <button
              type="button"
              className="onyx-Button"
              data-onyx="sign-out"
              disabled={!online}
              onClick={signOut}
            >
              {trans.__('Sign out')}
            </button>
          )}
          <p className="onyx-Note">
            {trans.__(
              'The sign-in is stored encrypted. You can also withdraw it on GitHub’s page of authorised apps.'
            )}
          </p>
        </>
      )}
      {kind === 'device' && state !== 'pending' && state !== 'signed_in' && (
        <>
          <SettingField
            name={`providers.${card.name}.clientId`}
            label={trans.__('Client id of the OAuth app')}
            placeholder="Ov23…"
            {...{ settings, online }}
          />
          {subscription.needsClientId ? (
            <p className="onyx-Note" data-onyx="needs-client-id">
              {trans.__(
                'GitHub wants to know the app that signs in. Enter the client id of an OAuth app with device flow, or use acp/copilot, GitHub’s own program.'
              )}
            </p>
          ) : (
            <button
              type="button"
              className="onyx-Button onyx-mod-accept"
              data-onyx="sign-in"
              disabled={!online}
              onClick={signIn}
            >
              {trans.__('Sign in')}
            </button>
          )}
        </>
      )}
    </section>
  );
}

function PendingCode({ code, online, cancelSignIn }: SignInProps & { code: SignInCode }): JSX.Element {
  const { trans, copy } = useUi();
  const [copied, markCopied] = useTemporaryFlag();
  const leftS = useCountdown(code.expiresInS);
  return (
    <>
      <div className="onyx-Setting-row">
        <code className="onyx-SignIn-code" data-onyx="user-code">
          {code.userCode}
        </code>
        <button
          type="button"
          className="onyx-Button"
          data-onyx="copy-user-code"
          onClick={() => {
            copy(code.userCode);
            markCopied();
          }}
        >
          {copied ? trans.__('Copied') : trans.__('Copy')}
        </button>
      </div>
      <p>
        <a
          className="onyx-Link"
          data-onyx="verification-link"
          href={/^https?:/.test(code.verificationUri) ? code.verificationUri : undefined}
          target="_blank"
          rel="noopener noreferrer"
        >
          {code.verificationUri}
        </a>
      </p>
      <div className="onyx-Setting-row">
        <span className="onyx-Note" role="timer" data-onyx="code-expires">
          {leftS > 0
            ? trans.__('The code is valid for %1 more.', minutesAndSeconds(leftS))
            : trans.__('The code is about to expire.')}
        </span>
        <button
          type="button"
          className="onyx-Button"
          data-onyx="cancel-sign-in"
          disabled={!online}
          onClick={cancelSignIn}
        >
          {trans.__('Cancel')}
        </button>
      </div>
    </>
  );
}

/** The seconds left of that time, which begins with the first drawing. */
function useCountdown(seconds: number): number {
  const [endsMs] = useState(() => Date.now() + seconds * 1000);
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNowMs(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return Math.max(0, Math.round((endsMs - nowMs) / 1000));
}

function minutesAndSeconds(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function stateClass(state: Subscription['state']): string {
  switch (state) {
    case 'signed_in':
      return 'onyx-Setting-good';
    case 'denied':
    case 'expired':
    case 'failed':
      return 'onyx-Problem';
    default:
      return '';
  }
}

function stateWords({ state, account, message }: Subscription, trans: Ui['trans']): string {
  switch (state) {
    case 'pending':
      return trans.__(
        'Enter this code on the page below. It is done here as soon as you have confirmed it there.'
      );
    case 'signed_in':
      return account ? trans.__('Signed in as %1.', account) : trans.__('Signed in.');
    case 'signed_out':
      return [trans.__('Not signed in.'), message].filter(Boolean).join(' ');
    case 'denied':
      return trans.__('The sign-in was declined.');
    case 'expired':
      return trans.__('The code has expired. Sign in again for a new one.');
    case 'failed':
    case 'not_installed':
      return message ?? '';
  }
}

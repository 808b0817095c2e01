{{/* RELEASE-berth, or RELEASE where that says berth. Short enough for the names of pods. */}}
{{- define "berth.name" -}}
{{- if contains "berth" .Release.Name }}{{ .Release.Name | trunc 32 | trimSuffix "-" }}{{ else }}{{ printf "%s-berth" .Release.Name | trunc 32 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels that select pods. Of (dict "root" $ "role" "api"), and "pool" for executors. */}}
{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- with .pool }}
berth/pool: {{ . }}
{{- end }}
{{- end }}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "berth.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* What a NetworkPolicy and `settings` may not name: settings with [secret], and those that the chart sets. */}}
{{- define "berth.refused" -}}
{{ list "database.url" "database.service_password" "database.api_url" "database.submit_url" "database.scheduler_url"
  "database.rm_url" "database.admin_url" "database.notifier_url" "bus.url" "redis.url" "auth.key_hash_secret" "auth.executor_secret"
  "auth.jwt_key" "auth.jwt_previous_key" "telemetry.otlp_headers" | join " " }}
{{- end }}

{{- define "berth.set-by-chart" -}}
{{ list "bus.kind" "bus.ca_file" "bus.client_cert_file" "bus.client_key_file" "redis.ca_file" "redis.client_cert_file"
  "redis.client_key_file" "api.listen" "api.metrics_listen" "api.tls_cert_file" "api.tls_key_file" "api.shutdown_grace"
  "scheduler.listen" "notifier.listen" "resource_manager.listen" "resource_manager.tls_cert_file" "resource_manager.tls_key_file"
  "resource_manager.health_listen" "resource_manager.shutdown_grace" "executor.id" "executor.pool" "executor.drivers"
  "executor.resource_managers" "executor.ca_file" "executor.health_listen" "executor.data_dir" "executor.isolation"
  "executor.cpu_millis" "executor.memory_mib" "executor.disk_mib" "executor.iops" "executor.drain_grace"
  "telemetry.otlp_ca_file" | join " " }}
{{- end }}

{{/* Environment of a map of settings by section. A number in YAML is a float to Helm: 16777216 must not become 1.6777216e+07. */}}
{{- define "berth.settings" -}}
{{- $secret := splitList " " (include "berth.refused" . | trim) }}
{{- $own := splitList " " (include "berth.set-by-chart" . | trim) }}
{{- range $section, $keys := . }}
{{- range $key, $value := $keys }}
{{- $name := printf "%s.%s" $section $key }}
{{- if has $name $secret }}{{ fail (printf "settings: `%s` is a secret: it belongs into a Secret, see `secrets` in values.yaml" $name) }}{{ end }}
{{- if has $name $own }}{{ fail (printf "settings: `%s` is set by the chart itself" $name) }}{{ end }}
- name: {{ printf "BERTH_%s__%s" $section $key | upper }}
  value: {{ if kindIs "float64" $value }}{{ printf "%.0f" $value | quote }}{{ else }}{{ toString $value | quote }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* One variable from a Secret. Of (list "BERTH_BUS__URL" "secret" "key"). */}}
{{- define "berth.secret" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef: {name: {{ index . 1 | quote }}, key: {{ index . 2 | quote }}}
{{- end }}

{{/* Environment of every role that speaks to the broker. */}}
{{- define "berth.bus" -}}
{{ include "berth.secret" (list "BERTH_BUS__URL" .Values.secrets.bus.name .Values.secrets.bus.url) }}
{{- if .Values.trust.configMap }}
- {name: BERTH_BUS__CA_FILE, value: /etc/berth/trust/ca.crt}
{{- end }}
{{- if .Values.secrets.bus.clientCertificate }}
- {name: BERTH_BUS__CLIENT_CERT_FILE, value: /etc/berth/bus/tls.crt}
- {name: BERTH_BUS__CLIENT_KEY_FILE, value: /etc/berth/bus/tls.key}
{{- end }}
{{- end }}

{{/* Environment of every role: telemetry. */}}
{{- define "berth.telemetry" -}}
- {name: BERTH_TELEMETRY__FORMAT, value: json}
{{- with .Values.secrets.otlpHeaders }}
{{- if .name }}
{{ include "berth.secret" (list "BERTH_TELEMETRY__OTLP_HEADERS" .name .key) }}
{{- end }}
{{- end }}
{{- if .Values.trust.configMap }}
- {name: BERTH_TELEMETRY__OTLP_CA_FILE, value: /etc/berth/trust/ca.crt}
{{- end }}
{{- end }}

{{/* Volumes and mounts of files. Of (dict "root" $ "tls" SECRET "bus" true "redis" true). */}}
{{- define "berth.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .root.Values.trust.configMap }}
- {name: trust, mountPath: /etc/berth/trust, readOnly: true}
{{- end }}
{{- if .tls }}
- {name: tls, mountPath: /etc/berth/tls, readOnly: true}
{{- end }}
{{- if and .bus .root.Values.secrets.bus.clientCertificate }}
- {name: bus, mountPath: /etc/berth/bus, readOnly: true}
{{- end }}
{{- if and .redis .root.Values.secrets.redis.clientCertificate }}
- {name: redis, mountPath: /etc/berth/redis, readOnly: true}
{{- end }}
{{- end }}

{{- define "berth.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- if .root.Values.trust.configMap }}
- name: trust
  configMap:
    name: {{ .root.Values.trust.configMap }}
    items: [{key: {{ .root.Values.trust.key | quote }}, path: ca.crt}]
{{- end }}
{{- if .tls }}
- name: tls
  secret: {secretName: {{ .tls }}, defaultMode: 0440}
{{- end }}
{{- if and .bus .root.Values.secrets.bus.clientCertificate }}
- name: bus
  secret: {secretName: {{ .root.Values.secrets.bus.clientCertificate }}, defaultMode: 0440}
{{- end }}
{{- if and .redis .root.Values.secrets.redis.clientCertificate }}
- name: redis
  secret: {secretName: {{ .root.Values.secrets.redis.clientCertificate }}, defaultMode: 0440}
{{- end }}
{{- end }}

{{/* Metadata of a pod. */}}
{{- define "berth.podMeta" -}}
labels:
  {{- include "berth.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What all pods have in common. Of (dict "root" $ "role" ROLE "pool" POOL "grace" SECONDS "place" VALUES-OF-THE-ROLE). */}}
{{- define "berth.pod" -}}
serviceAccountName: {{ include "berth.name" .root }}-{{ .role }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .grace }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .root.Values.runAsUser | int }}
  runAsGroup: {{ .root.Values.runAsUser | int }}
  fsGroup: {{ .root.Values.runAsUser | int }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .place.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .place.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- $labels := include "berth.selector" . }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $labels | nindent 8 }}
  {{- end }}
{{- end }}

{{/* What all containers of roles have in common. */}}
{{- define "berth.container" -}}
image: {{ include "berth.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [berth]
{{- end }}

{{- define "berth.restricted" -}}
securityContext:
  runAsNonRoot: true
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  privileged: false
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "berth.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{- define "berth.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .maxUnavailable | int }}
  # A pod that is not ready serves nobody: a drain of its node need not wait for it.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "berth.selector" . | nindent 6 }}
{{- end }}

{{- define "berth.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "berth.name" .root }}-{{ .role }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}

{{- define "dayshift.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "dayshift.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := include "dayshift.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "dayshift.selectorLabels" -}}
app.kubernetes.io/name: {{ include "dayshift.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dayshift.labels" -}}
{{ include "dayshift.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{- end }}

{{- define "dayshift.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "dayshift.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name: which ServiceAccount, as serviceAccount.create is false?" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "dayshift.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* Checks that the schema cannot express. */}}
{{- define "dayshift.check" -}}
{{- if not .Values.kinds }}
{{- fail "kinds is empty: name at least one, such as --set kinds={deployments}" }}
{{- end }}
{{- $scope := .Values.scope }}
{{- if not $scope.clusterWide }}
{{- if not $scope.namespaces }}
{{- fail "scope.namespaces is empty: with scope.clusterWide=false name the namespaces, such as --set scope.namespaces={team-a,team-b}" }}
{{- end }}
{{- if $scope.namespaceSelector }}
{{- fail "scope.namespaceSelector needs to read Namespaces, which no Role can allow: name them in scope.namespaces, or leave scope.clusterWide=true" }}
{{- end }}
{{- end }}
{{- if and .Values.dashboard.exposed (not .Values.dashboard.enabled) }}
{{- fail "dashboard.exposed: there is no dashboard to expose; set dashboard.enabled=true too" }}
{{- end }}
{{- $login := .Values.dashboard.login }}
{{- if and $login.enabled (not .Values.dashboard.enabled) }}
{{- fail "dashboard.login: there is no dashboard to log in to; set dashboard.enabled=true too" }}
{{- end }}
{{- if and $login.enabled (not $login.sidecar) (not $login.secretName) (not $login.trustedProxies) }}
{{- fail "dashboard.login: nothing shows that a request comes from the proxy: set dashboard.login.sidecar, or dashboard.login.secretName for a proxy in another pod" }}
{{- end }}
{{- if $login.enabled }}
{{- range $login.trustedProxies }}
{{- if or (regexMatch "^[0-9.]+/0*([0-9]|1[0-9]|2[0-3])$" .) (regexMatch ":.*/0*([0-9]|[1-9][0-9]|10[0-9]|11[0-9])$" .) }}
{{- fail (printf "dashboard.login.trustedProxies: %s has more than 256 addresses; name those of the proxy, or leave them out and set dashboard.login.secretName" .) }}
{{- end }}
{{- if not (or $login.secretName (regexMatch "^127\\." .) (has . (list "::1" "::1/128"))) }}
{{- fail (printf "dashboard.login.trustedProxies: other pods could send requests from %s and name any user; set dashboard.login.secretName too, or use dashboard.login.sidecar" .) }}
{{- end }}
{{- end }}
{{- with $login.sidecar }}
{{- $ports := dict }}
{{- range .ports }}
{{- $_ := set $ports (default "" .name) true }}
{{- end }}
{{- if not (hasKey $ports "login") }}
{{- fail "dashboard.login.sidecar: name the port at which users log in `login`, such as ports: [{name: login, containerPort: 4180}]" }}
{{- end }}
{{- end }}
{{- end }}
{{- range $name := list "revertWindow" "notice" "readyWithin" }}
{{- $time := get $.Values $name }}
{{- if regexMatch "(^|[^0-9])(0*(2[5-9]|[3-9][0-9]|[1-9][0-9]{2,}) ?h|0*([2-9]|[1-9][0-9]+) ?d|0*[1-9][0-9]* ?w)" $time }}
{{- fail (printf "%s: %s is too long; write 24h or less, such as 15m, or 0 to turn it off" $name $time) }}
{{- end }}
{{- end }}
{{- if regexMatch "^(0.?|[1-5]?[0-9] ?s[a-z]*|[0-9]{1,4} ?ms)$" .Values.catchUp }}
{{- fail (printf "catchUp: %s is too short, because every boundary is applied slightly late; write 1m or more" .Values.catchUp) }}
{{- end }}
{{- if regexMatch "^([0-9]{1,3} ?ms|1 ?s[a-z]*)$" .Values.maxClockSkew }}
{{- fail (printf "maxClockSkew: %s is too short; write 2s or more, such as 30s, or 0 to turn the check off" .Values.maxClockSkew) }}
{{- end }}
{{- if regexMatch "(^| )--metrics-by\\b" (join " " .Values.extraArgs) }}
{{- if .Values.perNamespaceMetrics }}
{{- fail "perNamespaceMetrics and --metrics-by in extraArgs exclude each other: leave one of them out" }}
{{- end }}
{{- if not (or $scope.namespaceSelector (and .Values.namespaceDefaults $scope.clusterWide)) }}
{{- fail "--metrics-by in extraArgs reads Namespaces: leave namespaceDefaults=true and scope.clusterWide=true, or leave it out" }}
{{- end }}
{{- end }}
{{- $default := .Values.defaultSchedule }}
{{- if or (and $default.hours (or $default.start $default.stop)) (and $default.name (or $default.hours $default.start $default.stop)) }}
{{- fail "defaultSchedule: give hours, or start and stop, or a name, and only one of these" }}
{{- end }}
{{- if and $default.name (not (hasKey .Values.schedules $default.name)) }}
{{- fail (printf "defaultSchedule.name: %s is not one of schedules" $default.name) }}
{{- end }}
{{- if and (or $default.hours $default.start $default.stop $default.name) (not $scope.namespaces) (not $scope.namespaceSelector) }}
{{- fail "defaultSchedule would stop whatever has no schedule: bound it by scope.namespaces or scope.namespaceSelector" }}
{{- end }}
{{- end }}

{{/* Not empty if the login proxy is a container of the pod. */}}
{{- define "dayshift.sidecar" -}}
{{- if and .Values.dashboard.enabled .Values.dashboard.login.enabled .Values.dashboard.login.sidecar }}true{{ end }}
{{- end }}

{{/* The permission to read the ConfigMaps of teams. */}}
{{- define "dayshift.teamRule" -}}
{{- if .Values.teamDefaults }}
# dayshift reads the ConfigMaps with this name because they are defaults of a team. It never writes to them.
- apiGroups: [""]
  resources: ["configmaps"]
  resourceNames: ["dayshift"]
  verbs: ["list", "watch"]
{{- end }}
{{- end }}

{{/* The arguments of dayshift that differ from its defaults. */}}
{{- define "dayshift.args" -}}
{{- $args := list "run" }}
{{- $kinds := join "," .Values.kinds }}
{{- if ne $kinds "deployments,statefulsets,cronjobs" }}
{{- $args = append $args (printf "--kinds=%s" $kinds) }}
{{- end }}
{{- range .Values.scope.namespaces }}
{{- $args = append $args (printf "--namespace=%s" .) }}
{{- end }}
{{- range .Values.scope.excludeNamespaces }}
{{- $args = append $args (printf "--exclude-namespace=%s" .) }}
{{- end }}
{{- if not (and .Values.namespaceDefaults .Values.scope.clusterWide) }}
{{- $args = append $args "--namespace-defaults=false" }}
{{- end }}
{{- if .Values.teamDefaults }}
{{- $args = append $args "--team-defaults" }}
{{- end }}
{{- $flags := list
  (list "namespace-selector" .Values.scope.namespaceSelector "")
  (list "selector" .Values.scope.selector "")
  (list "default-hours" .Values.defaultSchedule.hours "")
  (list "default-start" .Values.defaultSchedule.start "")
  (list "default-stop" .Values.defaultSchedule.stop "")
  (list "default-schedule" .Values.defaultSchedule.name "")
  (list "timezone" .Values.timezone "UTC")
  (list "annotation-prefix" .Values.annotationPrefix "dayshift")
  (list "catch-up" .Values.catchUp "72h")
  (list "max-clock-skew" .Values.maxClockSkew "30s")
  (list "revert-window" .Values.revertWindow "15m")
  (list "max-starting" (toString .Values.maxStarting) "0")
  (list "notice" .Values.notice "0")
  (list "ready-within" .Values.readyWithin "10m")
  (list "log-format" .Values.log.format "text")
  (list "log-level" .Values.log.level "info")
}}
{{- range $flags }}
{{- if ne (index . 1) (index . 2) }}
{{- $args = append $args (printf "--%s=%s" (index . 0) (index . 1)) }}
{{- end }}
{{- end }}
{{- range $name, $_ := .Values.calendars }}
{{- $args = append $args (printf "--calendar=%s=/etc/dayshift/calendars/%s.ics" $name $name) }}
{{- end }}
{{- if .Values.schedules }}
{{- $args = append $args "--schedules=/etc/dayshift/schedules/schedules.yaml" }}
{{- end }}
{{- if .Values.services }}
{{- $args = append $args "--services" }}
{{- end }}
{{- if .Values.kindRows }}
{{- $args = append $args "--kind-file=/etc/dayshift/kinds/kinds.yaml" }}
{{- end }}
{{- if .Values.perNamespaceMetrics }}
{{- $args = append $args "--per-namespace-metrics" }}
{{- end }}
{{- if .Values.perWorkloadMetrics }}
{{- $args = append $args "--per-workload-metrics" }}
{{- end }}
{{- if .Values.perUserMetrics }}
{{- $args = append $args "--per-user-metrics" }}
{{- end }}
{{- if .Values.dashboard.enabled }}
{{- $args = append $args (printf "--dashboard-listen=%s:8081" (ternary "0.0.0.0" "127.0.0.1" (and .Values.dashboard.exposed (not (include "dayshift.sidecar" .))))) }}
{{- end }}
{{- with .Values.dashboard.login }}
{{- if .enabled }}
{{- $args = append $args (printf "--user-header=%s" .userHeader) }}
{{- if .groupHeader }}
{{- $args = append $args (printf "--group-header=%s" .groupHeader) }}
{{- end }}
{{- if .trustedProxies }}
{{- $args = append $args (printf "--trusted-proxy=%s" (join "," .trustedProxies)) }}
{{- else if .sidecar }}
{{- $args = append $args "--trusted-proxy=127.0.0.1" }}
{{- end }}
{{- if .secretName }}
{{- $args = append $args "--proxy-secret-file=/etc/dayshift/proxy/secret" }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.dryRun }}
{{- $args = append $args "--dry-run" }}
{{- end }}
{{- concat $args .Values.extraArgs | toJson }}
{{- end }}

{{/* The permissions of dayshift in a namespace, for the selected kinds. */}}
{{- define "dayshift.rules" -}}
{{- $groups := dict "deployments" "apps" "statefulsets" "apps" "cronjobs" "batch" "horizontalpodautoscalers" "autoscaling" "scaledobjects" "keda.sh" }}
{{- $order := list }}
{{- $resources := dict }}
{{- range .Values.kinds }}
{{- $plural := . }}
{{- $group := get $groups . }}
{{- if contains "." . }}
{{- $plural = splitList "." . | first }}
{{- $group = trimPrefix (printf "%s." $plural) . }}
{{- end }}
{{- if not (hasKey $resources $group) }}
{{- $order = append $order $group }}
{{- end }}
{{- $_ := set $resources $group (append (get $resources $group | default list) $plural) }}
{{- end }}
{{- range $order }}
- apiGroups: [{{ . | quote }}]
  resources: [{{ range $index, $it := get $resources . }}{{ if $index }}, {{ end }}{{ $it | quote }}{{ end }}]
  verbs: ["get", "list", "watch", "patch"]
{{- end }}
{{- if .Values.stopJobs }}
# For CronJobs with stop-jobs.
- apiGroups: ["batch"]
  resources: ["jobs"]
  verbs: ["list", "patch"]
{{- end }}
{{- if .Values.services }}
# For svc/… in dayshift/after.
- apiGroups: ["discovery.k8s.io"]
  resources: ["endpointslices"]
  verbs: ["list", "watch"]
{{- end }}
{{- end }}

{{/* A policy, with a rule for each kind of another operator before those of the known ones. */}}
{{- define "dayshift.policyOfKinds" -}}
{{- $rules := "" }}
{{- range .kinds }}
{{- if contains "." . }}
{{- $plural := splitList "." . | first }}
{{- $group := trimPrefix (printf "%s." $plural) . }}
{{- $rules = printf "%s- apiGroups: [%s]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [%s, %s/*]\n    " $rules $group $plural $plural }}
{{- end }}
{{- end }}
{{- $before := "# The groups of all kinds of other operators." }}
{{- .policy | replace $before (print $rules $before) }}
{{- end }}

{{- define "dayshift.eventRule" -}}
- apiGroups: ["events.k8s.io"]
  resources: ["events"]
  verbs: ["create"]
{{- end }}

{{/* Objects that people read in addition to workloads: controllers that set counts, Events and the Namespace. */}}
{{- define "dayshift.readRules" -}}
- apiGroups: ["autoscaling"]
  resources: ["horizontalpodautoscalers"]
  verbs: ["get", "list", "watch"]
- apiGroups: ["keda.sh"]
  resources: ["scaledobjects"]
  verbs: ["get", "list", "watch"]
- apiGroups: ["", "events.k8s.io"]
  resources: ["events"]
  verbs: ["get", "list", "watch"]
- apiGroups: [""]
  resources: ["namespaces"]
  verbs: ["get", "list", "watch"]
{{- end }}

{{/* The permissions of the activator in a namespace. */}}
{{- define "dayshift.activatorRules" -}}
{{- range .kinds }}
{{- $plural := . }}
{{- $group := "apps" }}
{{- if contains "." . }}
{{- $plural = splitList "." . | first }}
{{- $group = trimPrefix (printf "%s." $plural) . }}
{{- end }}
- apiGroups: [{{ $group | quote }}]
  resources: [{{ $plural | quote }}]
  verbs: ["list", "watch", "patch"]
{{- end }}
- apiGroups: [""]
  resources: ["services"]
  verbs: ["list", "watch"]
# Nothing is handed on to an address before the pod itself is seen to have it.
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["get"]
- apiGroups: ["discovery.k8s.io"]
  resources: ["endpointslices"]
  verbs: ["list", "watch", "create", "patch", "delete"]
{{ include "dayshift.eventRule" . }}
{{- end }}

{{/* The connections that every pod of dayshift needs. */}}
{{- define "dayshift.egress" -}}
# The API server.
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - port: {{ . }}
    {{- end }}
  {{- with .Values.networkPolicy.apiServerAddresses }}
  to:
    {{- range . }}
    - ipBlock:
        cidr: {{ . | quote }}
    {{- end }}
  {{- end }}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end }}
